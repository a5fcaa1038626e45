// Fingerprints of the deployed graphs in PostgreSQL.
import type { Fingerprint } from "../../../model/model.ts";
import type { FingerprintTx } from "../../../ports/ports.ts";
import type { Sql } from "../client/transaction.ts";

export function fingerprintVerbs(db: Sql): FingerprintTx {
  return {
    async checkWritable(at) {
      await db.count(
        `INSERT INTO holdpoint.meta (key, value) VALUES ('checked_at', $1)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        String(at),
      );
    },
    async fingerprint(hash) {
      const body = (await db.get("SELECT body FROM holdpoint.fingerprints WHERE hash = $1", hash))?.["body"];
      return typeof body === "string" ? (JSON.parse(body) as Fingerprint) : null;
    },
    putFingerprint(fingerprint, at) {
      db.run(
        "INSERT INTO holdpoint.fingerprints (hash, created_at, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        fingerprint.hash,
        at,
        JSON.stringify(fingerprint),
      );
    },
  };
}
