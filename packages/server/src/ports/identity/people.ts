// Storage port for people who have signed in.
import type { Person } from "../../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

export interface PeopleQuery {
  /** Only people of this group; null for all. */
  readonly group: string | null;
  /** Only people with a name after this one, for the next page. */
  readonly after: string | null;
  readonly limit: number;
}

export interface PeopleTx {
  person(name: string): Awaitable<Person | null>;
  readPerson(issuer: string, subject: string): Awaitable<Person | null>;
  /** Stores a person, or replaces the one with this name. @returns false if the name belongs to another subject */
  putPerson(person: Person): Awaitable<boolean>;
  /** Without effect on a person who is gone. */
  markSeen(name: string, at: number): Awaitable<void>;
  /** Deletes the person with all sessions. @returns false without such a person */
  deletePerson(name: string): Awaitable<boolean>;
  /** People with this verified address, in any case of its letters; at most two, which already is one too many. */
  peopleByEmail(address: string): Awaitable<readonly Person[]>;
  /** What the console keeps of a person, JSON: null before the first write. @returns null without such a person */
  personConsole(name: string): Awaitable<{ readonly text: string | null } | null>;
  /** No other change comes between. @returns the new text; null without such a person @throws what `change` throws */
  changePersonConsole(name: string, change: (text: string | null) => string): Awaitable<string | null>;
  /** In order of the names. */
  people(query: PeopleQuery): Awaitable<readonly Person[]>;
}
