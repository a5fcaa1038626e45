// Fingerprints of the deployed graphs in SQLite.
import type { Fingerprint } from "../../../model/model.ts";
import type { FingerprintTx } from "../../../ports/ports.ts";
import type { Database } from "../client/database.ts";
export function fingerprintVerbs(db: Database): FingerprintTx {
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
  };
}
