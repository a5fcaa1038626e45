// Keys of programs.
import type { StoredKey } from "../../model/model.ts";
import type { KeyTx } from "../../ports/ports.ts";
import { KEY_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable } from "./cold-sql.ts";

export function keyVerbs(sql: ColdSql): KeyTx {
  const { schema } = sql;
  const keys = coldTable<StoredKey>(sql, "api_keys", KEY_COLUMNS);
  return {
    insertKey: (key) => keys.insert(key),
    keyByHash: async (hash) => keys.readOrNull(await sql.get(`${keys.select} WHERE hash = ?`, hash)),
    keys: async () => (await sql.all(`${keys.select} ORDER BY key_id`)).map(keys.read),
    keysNamed: async (name) => (await sql.all(`${keys.select} WHERE name = ?`, name)).map(keys.read),
    countKeys: async () => Number((await sql.get(`SELECT count(*) AS n FROM ${schema}api_keys`))?.["n"]),
    markKeyUsed(keyId, at) {
      const later = "WHERE key_id = ? AND coalesce(used_at, 0) < ?";
      sql.run(`UPDATE ${schema}api_keys SET used_at = ? ${later}`, at, keyId, at);
    },
    deleteKey: async (keyId) => (await keys.remove("key_id = ?", keyId))[0] ?? null,
  };
}
