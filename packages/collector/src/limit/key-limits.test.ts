import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createTenants } from "../shared/tenants.ts";
import { createKeyLimits, type KeyLimits } from "./key-limits.ts";
import { LimitsSchema } from "./limits-schema.ts";

const tenants = createTenants();
const key_sha256 = createHash("sha256").update("special").digest("hex");

function parseLimits(definition: unknown): {
  readonly limits: KeyLimits;
  readonly clock: ReturnType<typeof createFakeClock>;
} {
  const clock = createFakeClock();
  const log = createLog({ level: "error", json: true, secrets: [], now: clock.now, write: () => undefined });
  return { limits: createKeyLimits(LimitsSchema.parse(definition), { clock, log }), clock };
}

test("an entry of a key takes the limits that it lacks from the default", () => {
  const { limits } = parseLimits({
    default: { items_per_day: 3 },
    keys: [{ name: "a", key_sha256, items_per_second: 1 }],
  });
  const special = tenants.of("special", "");
  assert.equal(limits.take(special, { items: 3, bytes: 0 }), null);
  assert.equal(limits.check(special)?.reason, "items_per_day");
});

test("the default burst is that of 10 seconds", async () => {
  const { clock, limits } = parseLimits({ default: { items_per_second: 2 } });
  const tenant = tenants.of("key", "");
  assert.equal(limits.take(tenant, { items: 19, bytes: 0 }), null);
  assert.equal(limits.take(tenant, { items: 1, bytes: 0 }), null);
  assert.deepEqual(limits.check(tenant), { reason: "items_per_second", retryAfterSeconds: 1 });
  await clock.advance(500);
  assert.equal(limits.check(tenant), null);
});

test("key-limits.1 tenants of one key share its limits, keys do not", () => {
  const { limits } = parseLimits({ default: { items_per_day: 1 } });
  assert.equal(limits.take(tenants.of("key", "a"), { items: 1, bytes: 0 }), null);
  assert.equal(limits.take(tenants.of("key", "b"), { items: 1, bytes: 0 })?.reason, "items_per_day");
  assert.equal(limits.take(tenants.of("other", "a"), { items: 1, bytes: 0 }), null);
  assert.equal(limits.refused.items_per_day, 1);
});

test("12,000 invented keys leave the quotas of keys at theirs as they are (key-limits.3)", () => {
  const { limits } = parseLimits({ default: { items_per_day: 5 }, keys: [{ name: "a", key_sha256 }] });
  const used = ["special", "unlisted"].map((key) => tenants.of(key, ""));
  for (const tenant of used) assert.equal(limits.take(tenant, { items: 5, bytes: 10 }), null);
  for (let at = 0; at < 12_000; at++) limits.take(tenants.of(`invented-${at}`, ""), { items: 1, bytes: 1 });
  for (const tenant of used) assert.equal(limits.check(tenant)?.reason, "items_per_day");
});

test("a refunded request counts for nothing", () => {
  const { limits } = parseLimits({ default: { items_per_second: 1, burst: 1, items_per_day: 1, bytes_per_day: 1 } });
  const tenant = tenants.of("key", "");
  const amount = { items: 1, bytes: 1 };
  assert.equal(limits.take(tenant, amount), null);
  limits.refund(tenant, amount);
  assert.equal(limits.take(tenant, amount), null);
  assert.notEqual(limits.take(tenant, amount), null);
});
