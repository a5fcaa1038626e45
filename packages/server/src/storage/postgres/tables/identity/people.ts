// People in PostgreSQL.
import type { Person } from "../../../../model/model.ts";
import type { PeopleTx } from "../../../../ports/ports.ts";
import { PERSON_COLUMNS } from "../../../shared/columns.ts";
import type { Row } from "../../client/pool.ts";
import type { Sql } from "../../client/transaction.ts";
import { table } from "../shared/rows.ts";

const PEOPLE = table<Person>("people", { ...PERSON_COLUMNS, groups: ["groups", "searched"] });

export function peopleVerbs(db: Sql): PeopleTx {
  const read = (row: Row | null): Person | null => (row === null ? null : PEOPLE.read(row));
  return {
    person: async (name) => read(await db.get(`SELECT ${PEOPLE.columns} FROM holdpoint.people WHERE name = $1`, name)),
    personOf: async (issuer, subject) =>
      read(
        await db.get(
          `SELECT ${PEOPLE.columns} FROM holdpoint.people WHERE issuer = $1 AND subject = $2`,
          issuer,
          subject,
        ),
      ),
    async putPerson(person) {
      db.hold(`person ${person.name}`);
      const other = await db.get("SELECT issuer, subject FROM holdpoint.people WHERE name = $1", person.name);
      if (other !== null && (other["issuer"] !== person.issuer || other["subject"] !== person.subject)) return false;
      PEOPLE.insert(db, [person], PEOPLE.replacing("name"));
      return true;
    },
    markSeen(name, at) {
      db.run("UPDATE holdpoint.people SET seen_at = greatest(seen_at, $1) WHERE name = $2", at, name);
    },
    async deletePerson(name) {
      db.run("DELETE FROM holdpoint.sessions WHERE person = $1", name);
      return (await db.count("DELETE FROM holdpoint.people WHERE name = $1", name)) === 1;
    },
    async peopleByEmail(address) {
      const rows = await db.all(
        `SELECT ${PEOPLE.columns} FROM holdpoint.people WHERE lower(email) = lower($1) ORDER BY name LIMIT 2`,
        address,
      );
      return rows.map(PEOPLE.read);
    },
    async people({ group, after, limit }) {
      const rows = await db.all(
        `SELECT ${PEOPLE.columns} FROM holdpoint.people
         WHERE name > $1 AND ($2::text IS NULL OR groups::jsonb ? $2::text) ORDER BY name LIMIT $3`,
        after ?? "",
        group,
        limit,
      );
      return rows.map(PEOPLE.read);
    },
  };
}
