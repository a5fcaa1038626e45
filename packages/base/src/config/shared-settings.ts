// Settings of more than one part.
import { text } from "./config.ts";

export const DATA_SETTINGS = {
  dataDir: text("HOLDPOINT_DATA_DIR", "./.holdpoint", {
    meaning:
      "Folder of the embedded database, without DATABASE_URI, and of the local trace store. One process at a time may use it.",
  }),
} as const;

export const INGEST_SETTINGS = {
  ingestToken: text("INGEST_TOKEN", null, {
    meaning: "When set, senders must send it to the collector as `Authorization: Bearer …`.",
    secret: true,
  }),
} as const;
