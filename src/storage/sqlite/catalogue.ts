// What the deployed graphs left behind in SQLite: their fingerprints and their assistants.
import type { Assistant, Fingerprint } from "../../agent/model.ts";
import type { Tx } from "../../agent/ports.ts";
import type { Database } from "./database.ts";
import { table } from "./rows.ts";

const ASSISTANTS = table<Assistant>("assistants", {
  assistantId: ["assistant_id", "plain"],
  graphId: ["graph_id", "plain"],
  name: ["name", "plain"],
  description: ["description", "plain"],
  metadata: ["metadata", "json"],
  config: ["config", "json"],
  context: ["context", "json"],
  version: ["version", "plain"],
  createdAt: ["created_at", "plain"],
  updatedAt: ["updated_at", "plain"],
});

export function catalogueVerbs(
  db: Database,
): Pick<Tx, "checkWritable" | "fingerprint" | "putFingerprint" | "assistant" | "assistants" | "putAssistant"> {
  return {
    checkWritable(at) {
      db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('checked_at', ?)", String(at));
    },
    fingerprint(hash) {
      const body = db.get("SELECT body FROM fingerprints WHERE hash = ?", hash)?.["body"];
      return typeof body === "string" ? (JSON.parse(body) as Fingerprint) : null;
    },
    putFingerprint(fingerprint, at) {
      db.run(
        "INSERT OR IGNORE INTO fingerprints (hash, created_at, body) VALUES (?, ?, ?)",
        fingerprint.hash,
        at,
        JSON.stringify(fingerprint),
      );
    },
    assistant(assistantId) {
      const row = db.get(`SELECT ${ASSISTANTS.columns} FROM assistants WHERE assistant_id = ?`, assistantId);
      return row === null ? null : ASSISTANTS.read(row);
    },
    assistants: () =>
      db.all(`SELECT ${ASSISTANTS.columns} FROM assistants ORDER BY created_at DESC, name`).map(ASSISTANTS.read),
    putAssistant: (assistant) => ASSISTANTS.insert(db, [assistant], "INSERT OR IGNORE"),
  };
}
