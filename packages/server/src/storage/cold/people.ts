// People who have signed in.
import type { Person } from "../../model/model.ts";
import type { PeopleTx } from "../../ports/ports.ts";
import { PERSON_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable } from "./cold-sql.ts";

export function peopleVerbs(sql: ColdSql): PeopleTx {
  const { schema } = sql;
  const people = coldTable<Person>(sql, "people", { ...PERSON_COLUMNS, groups: ["groups", "searched"] });
  const readConsole = async (name: string): Promise<{ readonly text: string | null } | null> => {
    const row = await sql.get(`SELECT name, console FROM ${schema}people WHERE name = ?`, name);
    if (row === null) return null;
    const text = sql.sealing.open("people", "console", row, row["console"]);
    return { text: typeof text === "string" ? text : null };
  };
  return {
    person: async (name) => people.readOrNull(await sql.get(`${people.select} WHERE name = ?`, name)),
    readPerson: async (issuer, subject) =>
      people.readOrNull(await sql.get(`${people.select} WHERE issuer = ? AND subject = ?`, issuer, subject)),
    async putPerson(person) {
      sql.hold(`person ${person.name}`);
      const other = await sql.get(`SELECT issuer, subject FROM ${schema}people WHERE name = ?`, person.name);
      if (other !== null && (other["issuer"] !== person.issuer || other["subject"] !== person.subject)) return false;
      people.insert(person, people.replacing("name"));
      return true;
    },
    markSeen(name, at) {
      sql.run(`UPDATE ${schema}people SET seen_at = ? WHERE name = ? AND seen_at < ?`, at, name, at);
    },
    async deletePerson(name) {
      sql.run(`DELETE FROM ${schema}sessions WHERE person = ?`, name);
      return (await sql.count(`DELETE FROM ${schema}people WHERE name = ?`, name)) === 1;
    },
    async peopleByEmail(address) {
      const rows = await sql.all(`${people.select} WHERE lower(email) = lower(?) ORDER BY name LIMIT 2`, address);
      return rows.map(people.read);
    },
    personConsole: readConsole,
    async changePersonConsole(name, change) {
      sql.hold(`person ${name}`);
      const found = await readConsole(name);
      if (found === null) return null;
      const text = change(found.text);
      const cell = sql.sealing.seal("people", "console", { name }, text);
      sql.run(`UPDATE ${schema}people SET console = ? WHERE name = ?`, cell, name);
      return text;
    },
    async people({ group, after, limit }) {
      const page = "ORDER BY name LIMIT ?";
      const rows =
        group === null
          ? await sql.all(`${people.select} WHERE name > ? ${page}`, after ?? "", limit)
          : await sql.all(
              `${people.select} WHERE name > ? AND ${sql.listHas("groups")} ${page}`,
              after ?? "",
              group,
              limit,
            );
      return rows.map(people.read);
    },
  };
}
