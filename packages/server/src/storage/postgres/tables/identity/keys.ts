// Keys of programs in PostgreSQL.
import type { StoredKey } from "../../../../model/model.ts";
import type { KeyTx } from "../../../../ports/ports.ts";
import { KEY_COLUMNS } from "../../../shared/columns.ts";
import type { Sql } from "../../client/transaction.ts";
import { table } from "../shared/rows.ts";

const KEYS = table<StoredKey>("api_keys", KEY_COLUMNS);

export function keyVerbs(db: Sql): KeyTx {
  return {
    insertKey: (key) => KEYS.insert(db, [key]),
    async keyByHash(hash) {
      const row = await db.get(`SELECT ${KEYS.columns} FROM holdpoint.api_keys WHERE hash = $1`, hash);
      return row === null ? null : KEYS.read(row);
    },
    async keys() {
      return (await db.all(`SELECT ${KEYS.columns} FROM holdpoint.api_keys ORDER BY key_id`)).map(KEYS.read);
    },
    async keysNamed(name) {
      return (await db.all(`SELECT ${KEYS.columns} FROM holdpoint.api_keys WHERE name = $1`, name)).map(KEYS.read);
    },
    async countKeys() {
      return Number((await db.get("SELECT count(*) AS n FROM holdpoint.api_keys"))?.["n"]);
    },
    markKeyUsed(keyId, at) {
      const sql = "UPDATE holdpoint.api_keys SET used_at = greatest(coalesce(used_at, 0), $1) WHERE key_id = $2";
      db.run(sql, at, keyId);
    },
    async deleteKey(keyId) {
      const sql = `DELETE FROM holdpoint.api_keys WHERE key_id = $1 RETURNING ${KEYS.columns}`;
      const [row] = await db.change(sql, keyId);
      return row === undefined ? null : KEYS.read(row);
    },
  };
}
