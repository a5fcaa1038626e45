// Settings of more than one part.
import { text } from "./config.ts";
import { databaseUri } from "./database-setting.ts";

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
