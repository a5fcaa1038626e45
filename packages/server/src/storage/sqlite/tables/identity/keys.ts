// Keys of programs in SQLite.
import type { StoredKey } from "../../../../model/model.ts";
import type { KeyTx } from "../../../../ports/ports.ts";
import { KEY_COLUMNS } from "../../../shared/columns.ts";
import type { Database } from "../../client/database.ts";
import { table } from "../shared/rows.ts";

const KEYS = table<StoredKey>("api_keys", KEY_COLUMNS);

export function keyVerbs(db: Database): KeyTx {
  return {
    insertKey: (key) => void KEYS.insert(db, [key]),
    keyByHash(hash) {
      const row = db.get(`SELECT ${KEYS.columns} FROM api_keys WHERE hash = ?`, hash);
      return row === null ? null : KEYS.read(row);
    },
    keys: () => db.all(`SELECT ${KEYS.columns} FROM api_keys ORDER BY key_id`).map(KEYS.read),
    keysNamed: (name) => db.all(`SELECT ${KEYS.columns} FROM api_keys WHERE name = ?`, name).map(KEYS.read),
    countKeys: () => Number(db.get("SELECT count(*) AS n FROM api_keys")?.["n"]),
    markKeyUsed(keyId, at) {
      db.run("UPDATE api_keys SET used_at = max(coalesce(used_at, 0), ?) WHERE key_id = ?", at, keyId);
    },
    deleteKey(keyId) {
      const row = db.get(`SELECT ${KEYS.columns} FROM api_keys WHERE key_id = ?`, keyId);
      db.run("DELETE FROM api_keys WHERE key_id = ?", keyId);
      return row === null ? null : KEYS.read(row);
    },
  };
}
