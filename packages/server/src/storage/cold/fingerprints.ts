// Fingerprints of the deployed graphs.
import type { Fingerprint } from "../../model/model.ts";
import type { FingerprintTx } from "../../ports/ports.ts";
import type { ColdSql } from "./cold-sql.ts";

export function fingerprintVerbs(sql: ColdSql): FingerprintTx {
  const { schema } = sql;
  return {
    async checkWritable(at) {
      const conflict = "ON CONFLICT (key) DO UPDATE SET value = excluded.value";
      await sql.count(`INSERT INTO ${schema}meta (key, value) VALUES ('checked_at', ?) ${conflict}`, String(at));
    },
    async fingerprint(hash) {
      const body = (await sql.get(`SELECT body FROM ${schema}fingerprints WHERE hash = ?`, hash))?.["body"];
      return typeof body === "string" ? (JSON.parse(body) as Fingerprint) : null;
    },
    putFingerprint(fingerprint, at) {
      sql.run(
        `INSERT INTO ${schema}fingerprints (hash, created_at, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
        fingerprint.hash,
        at,
        JSON.stringify(fingerprint),
      );
    },
  };
}
