// Tests of stored keys. Checked: stored-keys.1, the storage never sees a key; stored-keys.2, revocation; expiry.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createIdSource } from "@holdpoint/base/ids.ts";
import { systemClock } from "@holdpoint/base/clock.ts";
import { openStorage } from "../../../../test/harness/storage/sqlite-storage.ts";
import { NO_LIMITS } from "./role-limits.ts";
import { createKey, revokeKey, storedKeySource, USE_EVERY_MS } from "./stored-keys.ts";

const ADMIN = { name: "root", user: null, permissions: [] };

async function opened(t: TestContext) {
  const storage = await openStorage(t);
  let now = 1_000_000;
  const clock = { ...systemClock, now: () => now };
  const ports = { storage, clock, newId: createIdSource(() => now) };
  const source = storedKeySource(ports);
  const as = (key: string) => source({ method: "GET", url: "/", headers: { "x-api-key": key } });
  return { ports, storage, as, pass: (ms: number) => void (now += ms) };
}

const NEW = { name: "robot", role: "operator", limits: NO_LIMITS, expiresAt: null } as const;

test("a key names its caller until it is revoked; the storage has its hash only (stored-keys.1, stored-keys.2)", async (t) => {
  const { ports, storage, as } = await opened(t);
  const { key, stored } = await createKey(ports, ADMIN, NEW);
  assert.equal((await as(key))?.name, "robot");
  assert.equal((await as(key))?.role, "operator");
  assert.ok(!JSON.stringify(await storage.read((tx) => tx.keys())).includes(key.slice("hp_".length)));
  assert.equal(await as(`${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`), null);
  assert.equal(await as(stored.hash), null);
  await revokeKey(ports, ADMIN, stored.keyId);
  assert.equal(await as(key), null);
  await assert.rejects(revokeKey(ports, ADMIN, stored.keyId), { code: "key_not_found" });
});

test("a key is refused from the moment of its expiry on", async (t) => {
  const { ports, as, pass } = await opened(t);
  const { key } = await createKey(ports, ADMIN, { ...NEW, expiresAt: 1_000_500 });
  pass(499);
  assert.equal((await as(key))?.name, "robot");
  pass(1);
  await assert.rejects(as(key), { code: "unauthenticated", message: /robot has expired/ });
});

test("the last use of a key is stored once a minute", async (t) => {
  const { ports, storage, as, pass } = await opened(t);
  const { key } = await createKey(ports, ADMIN, NEW);
  const used = async (): Promise<number | null> => {
    await storage.transactionDeferred(() => undefined); // after the deferred write of the use
    return (await storage.read((tx) => tx.keys()))[0]?.usedAt ?? null;
  };
  assert.equal(await used(), null);
  await as(key);
  assert.equal(await used(), 1_000_000);
  pass(USE_EVERY_MS - 1);
  await as(key);
  assert.equal(await used(), 1_000_000);
  pass(1);
  await as(key);
  assert.equal(await used(), 1_000_000 + USE_EVERY_MS);
});
