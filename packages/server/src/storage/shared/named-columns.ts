// Named columns: those whose text an erasure of a person rewrites, or whose row it removes: all sealed ones, and these
// plain ones. Namespaces and keys of the store and the words of the index are handled in erase-rows.ts (ARCHITECTURE.md
// of the server, Erasure).
import { isPersonKey, type PersonalNames, type TextKind } from "@holdpoint/base/personal-names.ts";
import { TABLES } from "./sealed-columns.ts";

/** Plain columns, by table; tables of ids, times and hashes have none. */
const PLAIN_NAMED: Readonly<Record<string, string>> = {
  threads: "started_by metadata tenant",
  thread_metadata: "key value",
  runs: "caller tenant",
  checkpoints: "metadata",
  interrupts: "claim claimed_by",
  inbox_metadata: "key value",
  audit: "by",
  assistants: "name name_lower metadata",
  assistant_versions: "name metadata",
  assistant_metadata: "key value",
  crons: "caller reach metadata",
  policies: "created_by",
  store_items: "tenant",
  people: "name subject display_name email",
  sessions: "person",
  api_keys: "name limits created_by",
  socket_tickets: "caller",
};

/** Tables whose row goes with the person whom it names. */
const GOES_WITH_PERSON: Readonly<Record<string, (row: Row) => boolean>> = {
  socket_tickets: () => true,
  notices: () => true,
  webhooks: ({ channel }) => channel !== "http",
};

/** What Holdpoint itself writes about people: the whole text is a name there, however common. */
const WHOLE_NAMES: ReadonlySet<string> = new Set(
  `threads.started_by threads.tenant runs.caller runs.tenant interrupts.claim interrupts.claimed_by interrupts.review
   audit.by audit.value crons.caller policies.created_by store_items.tenant people.name
   people.subject people.display_name people.email sessions.person sessions.claims api_keys.created_by
   socket_tickets.caller notices.target`.split(/\s+/),
);

type Row = Readonly<Record<string, unknown>>;

/** Table → its columns that can name a person. */
export const NAMED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(TABLES)
    .map(([table, { sealed }]): [string, string[]] => [
      table,
      [...(PLAIN_NAMED[table]?.split(" ") ?? []), ...Object.keys(sealed)].filter((column) => column !== "vector"),
    ])
    .filter(([, columns]) => columns.length > 0),
);

/** Further columns that decide about a row. */
export const DECIDING_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  webhooks: ["channel"],
  store_items: ["ns", "key"],
};

/** The name of the person whose row it is, in tables with a row for each. */
const PERSON_OF_ROW: Readonly<Record<string, (row: Row) => unknown>> = {
  people: ({ name }) => name,
  sessions: ({ person }) => person,
};

export const goesWithPerson = (table: string, row: Row): boolean =>
  table in PERSON_OF_ROW || (GOES_WITH_PERSON[table]?.(row) ?? false);

/** Names in the row of another person are that person's own: somebody may be called the same. */
export const isOfAnother = (table: string, row: Row, { isPerson }: Pick<PersonalNames, "isPerson">): boolean =>
  table in PERSON_OF_ROW && !isPerson(String(PERSON_OF_ROW[table]?.(row)));

export function readTextKind(table: string, column: string, { key }: Row): TextKind {
  if (table.endsWith("_metadata") && column === "value") return isPersonKey(String(key)) ? "record" : "content";
  return WHOLE_NAMES.has(`${table}.${column}`) ? "record" : "content";
}
