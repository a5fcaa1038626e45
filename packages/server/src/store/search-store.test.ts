// Tests of searches in the store, over a storage that counts the values it hands out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHUNK_BYTES } from "../context/chunks.ts";
import { parseFilter } from "@holdpoint/base/json/json-filter.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { StoreItem } from "../model/model.ts";
import type { Storage, StorePage, StoreTx, Tx } from "../ports/ports.ts";
import { findItems, readItems, type StoreQuery } from "./search-store.ts";

const QUERY: StoreQuery = { prefix: [], filter: [], vector: null, limit: 1000, offset: 0, scope: null };

interface Kept {
  readonly bytes: number;
  readonly value: JsonObject;
}

/** Items newest first. `atOnce` has the bytes of each read of values. */
function createTestStorage(rows: readonly Kept[]) {
  const items = new Map(
    rows.map(({ value }, at): [number, StoreItem] => [
      at,
      { namespace: ["n"], key: `k${at}`, value, createdAt: 1, updatedAt: 1, ttlMs: null, expiresAt: null },
    ]),
  );
  const atOnce: number[] = [];
  const tx: Partial<StoreTx> = {
    newestStoreItems({ after, limit }: StorePage) {
      const from = after === null ? 0 : after[1] + 1;
      const refs = rows.slice(from, from + limit).map(({ bytes }, at) => {
        return { itemId: from + at, namespace: ["n"], key: `k${from + at}`, ttlMs: null, bytes, score: null };
      });
      return { refs, next: refs.length < limit ? null : [0, from + limit - 1] };
    },
    storeItems(ids) {
      const found = ids.flatMap((id) => (items.has(id) ? [[id, items.get(id) as StoreItem] as const] : []));
      atOnce.push(found.reduce((sum, [id]) => sum + (rows[id]?.bytes ?? 0), 0));
      return new Map(found);
    },
    storeItem: (_namespace, key) => [...items.values()].find((item) => item.key === key) ?? null,
  };
  const storage = { read: async (work: (tx: Tx) => unknown) => work(tx as Tx), longReads: tx } as unknown as Storage;
  const keys = async (changes: Partial<StoreQuery>): Promise<readonly string[] | null> => {
    const query = { ...QUERY, ...changes };
    const found = await findItems(storage, query, 0);
    if (found === null) return null;
    return (await Array.fromAsync(readItems(storage, found, query, () => 0))).map(({ key }) => key);
  };
  return { storage, items, atOnce, keys };
}

const small = (kind: string): Kept => ({ bytes: 10, value: { kind } });
const big = (kind: string): Kept => ({ bytes: CHUNK_BYTES, value: { kind } });

test("a search has the matches of its page, in order, for every filter, offset and scope", async () => {
  const { keys } = createTestStorage([small("a"), small("b"), small("a"), small("b"), small("a")]);
  const filter = parseFilter({ kind: "a" });
  const scope = [{ key: "kind", op: "eq", value: "b" }] as const;
  assert.deepEqual(await keys({}), ["k0", "k1", "k2", "k3", "k4"]);
  assert.deepEqual(await keys({ limit: 2, offset: 1 }), ["k1", "k2"]);
  assert.deepEqual(await keys({ filter }), ["k0", "k2", "k4"]);
  assert.deepEqual(await keys({ filter, limit: 1, offset: 1 }), ["k2"]);
  assert.deepEqual(await keys({ scope }), ["k1", "k3"]);
  assert.deepEqual(await keys({ filter, scope }), []);
});

test("values are read a chunk at a time, to filter them and to return them (search-store.1)", async () => {
  for (const changes of [{}, { filter: parseFilter({ kind: "a" }) }]) {
    const { keys, atOnce } = createTestStorage(Array.from({ length: 20 }, () => big("a")));
    assert.equal((await keys(changes))?.length, 20);
    assert.equal(Math.max(...atOnce), CHUNK_BYTES);
  }
});

test("a list without a filter reads the values of its page only (search-store.1)", async () => {
  const { keys, atOnce } = createTestStorage(Array.from({ length: 20 }, () => big("a")));
  await keys({ limit: 3, offset: 10 });
  assert.deepEqual(atOnce, [CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES]);
});

test("an item is read by its key when it was replaced, and is omitted when it no longer matches (search-store.3)", async () => {
  const { storage, items } = createTestStorage([big("a"), big("a"), big("a"), big("a")]);
  const query = { ...QUERY, filter: parseFilter({ kind: "a" }) };
  const found = await findItems(storage, query, 0);
  const change = (id: number, value: JsonObject): void => {
    const item = items.get(id) as StoreItem;
    items.delete(id);
    items.set(id + 100, { ...item, value });
  };
  change(1, { kind: "a", replaced: true });
  change(2, { kind: "b" });
  items.delete(3);
  const values = (await Array.fromAsync(readItems(storage, found ?? [], query, () => 0))).map(({ value }) => value);
  assert.deepEqual(values, [{ kind: "a" }, { kind: "a", replaced: true }]);
});

test("a search that would pass more than its limit is refused (search-store.4)", async () => {
  const { keys } = createTestStorage(Array.from({ length: 10_001 }, () => small("a")));
  const mine = [{ key: "kind", op: "eq", value: "b" }] as const;
  assert.equal(await keys({ scope: mine }), null);
  assert.equal((await keys({ limit: 5 }))?.length, 5);
});
