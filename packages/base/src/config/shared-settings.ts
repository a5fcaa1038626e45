// Settings of more than one part.
import { type Setting, ShownReason, setting, text } from "./config.ts";

// DATABASE_URI: the address of the PostgreSQL database, in the forms that node-postgres reads, and with several hosts.
// An invalid one prevents the start; node-postgres would take "db.example" for a database name, and mysql: for
// PostgreSQL.

const KIND = { type: "text", fallback: null, limits: "postgres: or postgresql: URL, or path of a socket" };
/** A server has to write: it cannot use a standby. */
const TARGETS = ["read-write", "primary"];

export function databaseUri(name: string, aliases: readonly string[], meaning: string): Setting<string | null> {
  return setting<string | null>(name, KIND, { meaning, aliases, secret: true }, (value) => {
    const isSocket = /^(\/|socket:\/)/i.test(value);
    if (!isSocket && !listUrls(value).every(isPostgresUrl))
      throw new ShownReason("is not of the form postgres://user:password@host:5432/database (not shown)");
    const target = /[?&]target_session_attrs=([^&]*)/.exec(value)?.[1];
    if (target !== undefined && !TARGETS.includes(target))
      throw new ShownReason(`target_session_attrs is not ${TARGETS.join(" or ")}: the server has to write`);
    return value;
  });
}

/** One for each host of `postgres://user:password@one:5432,two:5432/database`. */
function listUrls(value: string): readonly string[] {
  const [, head = "", hosts = "", tail = ""] = /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(value) ?? [];
  return hosts.includes(",") ? hosts.split(",").map((host) => `${head}${host || "?"}${tail}`) : [value];
}

/** As node-postgres reads it: blanks are allowed, and the host may be empty, for one in the query. */
function isPostgresUrl(value: string): boolean {
  const url = value.replaceAll(" ", "%20").replace("@/", "@host/");
  return /^postgres(ql)?:\/\//i.test(url) && URL.canParse(url);
}

export const DATA_SETTINGS = {
  dataDir: text("HOLDPOINT_DATA_DIR", "./.holdpoint", {
    meaning:
      "Folder of the embedded databases, of the server and of the trace store, without DATABASE_URI. One process at a time may use it.",
  }),
} as const;

export const DATABASE_SETTINGS = {
  databaseUri: databaseUri(
    "DATABASE_URI",
    ["DATABASE_URL"],
    "PostgreSQL database of the server and of the trace store, as postgres://user:password@host/database. Default: the embedded databases in the data folder.",
  ),
  databaseDirectUri: databaseUri(
    "DATABASE_DIRECT_URI",
    [],
    "The same database past the pooler, where DATABASE_URI names a pooler of transactions: two connections of each process, and migrations, need PostgreSQL itself.",
  ),
  databasePasswordCommand: text("DATABASE_PASSWORD_COMMAND", null, {
    meaning:
      "Program and arguments, without a shell, that prints the password of the database. It runs for each new connection, so the password may expire; it has 4 seconds.",
  }),
} as const;

export const INGEST_SETTINGS = {
  ingestToken: text("INGEST_TOKEN", null, {
    meaning: "When set, senders must send it to the collector as `Authorization: Bearer …`.",
    secret: true,
  }),
} as const;
