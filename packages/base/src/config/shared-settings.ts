// Settings of more than one part.
import { text } from "./config.ts";
import { databaseUri } from "./database-setting.ts";

export const DATA_SETTINGS = {
  dataDir: text("HOLDPOINT_DATA_DIR", "./.holdpoint", {
    meaning:
      "Folder of the embedded databases, of the server and of the trace store, without DATABASE_URI. One process at a time may use it.",
  }),
} as const;

export const DATABASE_SETTINGS = { databaseUri: databaseUri("DATABASE_URI", ["DATABASE_URL"]) } as const;

export const INGEST_SETTINGS = {
  ingestToken: text("INGEST_TOKEN", null, {
    meaning: "When set, senders must send it to the collector as `Authorization: Bearer …`.",
    secret: true,
  }),
} as const;
