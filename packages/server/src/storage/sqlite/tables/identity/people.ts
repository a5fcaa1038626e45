// People in SQLite.
import type { Person } from "../../../../model/model.ts";
import type { PeopleTx } from "../../../../ports/ports.ts";
import { PERSON_COLUMNS } from "../../../shared/columns.ts";
import type { Database, Row } from "../../client/database.ts";
import { table } from "../shared/rows.ts";

const PEOPLE = table<Person>("people", PERSON_COLUMNS);

export function peopleVerbs(db: Database): PeopleTx {
  const read = (row: Row | null): Person | null => (row === null ? null : PEOPLE.read(row));
  return {
    person: (name) => read(db.get(`SELECT ${PEOPLE.columns} FROM people WHERE name = ?`, name)),
    personOf: (issuer, subject) =>
      read(db.get(`SELECT ${PEOPLE.columns} FROM people WHERE issuer = ? AND subject = ?`, issuer, subject)),
    putPerson(person) {
      const other = db.get("SELECT issuer, subject FROM people WHERE name = ?", person.name);
      if (other !== null && (other["issuer"] !== person.issuer || other["subject"] !== person.subject)) return false;
      PEOPLE.insert(db, [person], "INSERT OR REPLACE");
      return true;
    },
    markSeen(name, at) {
      db.run("UPDATE people SET seen_at = max(seen_at, ?) WHERE name = ?", at, name);
    },
    deletePerson(name) {
      db.run("DELETE FROM sessions WHERE person = ?", name);
      return db.run("DELETE FROM people WHERE name = ?", name) === 1;
    },
    peopleByEmail: (address) =>
      db
        .all(`SELECT ${PEOPLE.columns} FROM people WHERE email = ? COLLATE NOCASE ORDER BY name LIMIT 2`, address)
        .map(PEOPLE.read),
    people: ({ group, after, limit }) =>
      db
        .all(
          `SELECT ${PEOPLE.columns} FROM people WHERE name > ?
           AND (? IS NULL OR EXISTS (SELECT 1 FROM json_each(groups) WHERE json_each.value = ?))
           ORDER BY name LIMIT ?`,
          after ?? "",
          group,
          group,
          limit,
        )
        .map(PEOPLE.read),
  };
}
