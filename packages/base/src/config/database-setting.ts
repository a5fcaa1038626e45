// DATABASE_URI: the address of the PostgreSQL database, in the forms that node-postgres reads. An invalid one prevents
// the start; node-postgres would take "db.example" for a database name, and mysql: for PostgreSQL.
import { setting, ShownReason, type Setting } from "./config.ts";

const MEANING =
  "PostgreSQL database of the server and of the trace store, as postgres://user:password@host/database. Default: the embedded databases in the data folder.";
const KIND = { type: "text", fallback: null, limits: "postgres: or postgresql: URL, or path of a socket" };

export function databaseUri(name: string, aliases: readonly string[]): Setting<string | null> {
  return setting<string | null>(name, KIND, { meaning: MEANING, aliases, secret: true }, (value) => {
    if (/^(\/|socket:\/)/i.test(value) || isPostgresUrl(value)) return value;
    throw new ShownReason("is not of the form postgres://user:password@host:5432/database (not shown)");
  });
}

/** As node-postgres reads it: blanks are allowed, and the host may be empty, for one in the query. */
function isPostgresUrl(value: string): boolean {
  const url = value.replaceAll(" ", "%20").replace("@/", "@host/");
  return /^postgres(ql)?:\/\//i.test(url) && URL.canParse(url);
}
