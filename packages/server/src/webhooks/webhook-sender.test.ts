// Tests of batches and rests of the outbox, over the embedded database, with a clock that the test moves.
// Checked: webhook-sender.5 (a batch is one delivery and loses no row), webhook-sender.6 and outbox-attempt.2 (a host over
// its limit rests, and no attempt counts), outbox-attempt.4 (Retry-After), webhook-sender.7 (410), webhook-sender.8 (one
// line a host and minute).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { createArrivals } from "../../../../test/harness/arrivals.ts";
import { openStorage } from "../../../../test/harness/storage/sqlite-storage.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import type { PostOutcome } from "@holdpoint/base/http/outbound/guarded-post.ts";
import type { Webhook } from "../model/model.ts";
import type { WebhookPolicy } from "../ports/ports.ts";
import type { DeliveryOutcome } from "./delivery.ts";
import { outboxId } from "./outbox-id.ts";
import { createWebhooks } from "./webhook-sender.ts";

const BEGIN_MS = 1_700_000_000_000;
const LEASE_MS = 15_000;

/** Rows of HTTP webhooks, and what the sender did with them. */
async function setUpHttp(t: TestContext, reply: (nth: number) => PostOutcome) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const log = createLog({ level: "info", json: true, secrets: [], now: Date.now, write });
  const storage = await openStorage(t);
  const clock = createFakeClock();
  const times: number[] = [];
  const policy = { headerDomains: [], headers: {} } as unknown as WebhookPolicy;
  const webhooks = createWebhooks(
    { policy, secret: null, attemptsMax: 3, retryMs: 1000, userAgent: "test" },
    {
      storage,
      clock,
      log,
      random: () => 0.5,
      post: async () => {
        times.push(clock.monotonic());
        return reply(times.length);
      },
      isOwnRoute: () => false,
      onOutcome: () => undefined,
      channels: {},
    },
  );
  t.after(() => webhooks.stop());
  return {
    clock,
    times,
    lines,
    webhooks,
    left: () => storage.transaction((tx) => tx.countWebhooks()),
    put: (...names: readonly string[]) =>
      storage.transaction(async (tx) => {
        for (const name of names)
          await tx.putWebhook({
            ...row(name, BEGIN_MS),
            channel: "http",
            url: "http://a.example/",
            host: "a.example",
            batch: null,
          });
      }),
  };
}

type Send = (names: readonly string[]) => DeliveryOutcome | Promise<DeliveryOutcome>;

async function setUp(t: TestContext) {
  const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
  const storage = await openStorage(t);
  const left = () => storage.transaction((tx) => tx.countWebhooks());
  const counts = createArrivals<number>();
  const counting: typeof storage = {
    ...storage,
    async transaction(work) {
      const result = await storage.transaction(work);
      counts.add(await left());
      return result;
    },
  };
  const clock = createFakeClock();
  /** @param time of another process */
  const start = async (send: Send, time = clock) => {
    const options = { policy: {} as WebhookPolicy, secret: null, attemptsMax: 3, retryMs: 1000, userAgent: "test" };
    const webhooks = createWebhooks(options, {
      storage: counting,
      clock: time,
      log,
      random: () => 0.5,
      post: async () => ({ kind: "failed", reason: "unused" }),
      isOwnRoute: () => false,
      onOutcome: () => undefined,
      channels: { email: async (rows) => send(rows.map(({ body }) => body)) },
    });
    await webhooks.start();
    if (time === clock) t.after(() => webhooks.stop());
    return webhooks;
  };
  const put = (...names: readonly string[]) =>
    storage.transaction(async (tx) => {
      for (const name of names) await tx.putWebhook(row(name, BEGIN_MS));
    });
  /** A sender has left this many rows. */
  const leaves = (count: number) => counts.when(`${count} left`, (all) => all.at(-1) === count);
  return { clock, start, put, left, leaves };
}

function row(name: string, at: number): Webhook {
  const address = { url: "", host: "mail", channel: "email", headers: {}, batch: "digest" } as const;
  return { ...address, runId: outboxId(name), body: name, attempts: 0, dueAt: at, createdAt: at };
}

/** Until the storage, whose commits take turns, has done all that was requested. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let at = 0; at < 10_000; at++) {
    if (await holds()) return;
    await turn();
  }
  assert.fail("waited in vain");
}

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `item ${String(at).padStart(2, "0")}`);

test("a digest of many items leaves in few messages, each item in one (webhook-sender.5)", async (t) => {
  const { start, put, leaves } = await setUp(t);
  await put(...names(45));
  const sent: (readonly string[])[] = [];
  await start((batch) => {
    sent.push(batch);
    return { kind: "sent" };
  });
  await leaves(0);
  assert.deepEqual(sent.flat().toSorted(), names(45));
  assert.equal(sent.length, 3);
});

test("an item that joins while the digest leaves is in the next one (webhook-sender.5)", async (t) => {
  const { start, put, leaves } = await setUp(t);
  await put("first");
  const sent: (readonly string[])[] = [];
  const webhooks = await start(async (batch) => {
    sent.push(batch);
    if (sent.length === 1) await put("second");
    return { kind: "sent" };
  });
  await leaves(1);
  webhooks.wake();
  await leaves(0);
  assert.deepEqual(sent, [["first"], ["second"]]);
});

test("a digest that fails is repeated whole; after its last attempt it is dropped (webhook-sender.5)", async (t) => {
  const { clock, start, put, left } = await setUp(t);
  await put("first", "second");
  const sent: (readonly string[])[] = [];
  await start((batch) => {
    sent.push(batch.toSorted());
    return { kind: "failed", reason: "no", replied: true };
  });
  await until(async () => {
    await clock.advance(1000);
    return (await left()) === 0;
  });
  assert.deepEqual(
    sent,
    [1, 2, 3].map(() => ["first", "second"]),
  );
});

test("a host over its limit rests as long as it says, and no attempt counts (webhook-sender.6)", async (t) => {
  const { clock, start, put, leaves } = await setUp(t);
  await put("first");
  const { list: times, add, when } = createArrivals<number>();
  await start(() => {
    add(clock.monotonic());
    return times.length <= 10 ? { kind: "limited", afterMs: 5000 } : { kind: "sent" };
  });
  for (let attempt = 1; attempt <= 10; attempt++) {
    await when("an attempt", () => times.length === attempt);
    await until(() => clock.timers() > 0);
    await clock.advance(4999);
    assert.equal(times.length, attempt, "it rests");
    await clock.advance(1);
  }
  await leaves(0);
  assert.equal(times.length, 11, "more than its attempts");
});

test("a sender that stops in the middle leaves the rows to the next one (webhook-sender.1)", async (t) => {
  const { clock, start, put, leaves } = await setUp(t);
  let reached = (): void => undefined;
  const began = new Promise<void>((resolve) => (reached = resolve));
  const dead = createFakeClock(clock.now() - LEASE_MS); // it claimed so long ago
  await put(...names(3));
  await start(() => {
    reached();
    return new Promise(() => undefined);
  }, dead);
  await began;
  const sent: (readonly string[])[] = [];
  await start((batch) => {
    sent.push(batch);
    return { kind: "sent" };
  });
  await leaves(0);
  assert.deepEqual(sent.flat().toSorted(), names(3));
});

for (const status of [429, 503])
  test(`a receiver that replies ${status} with Retry-After gets nothing before (outbox-attempt.4)`, async (t) => {
    const { clock, times, webhooks, left, put } = await setUpHttp(t, (nth) =>
      nth === 1 ? { kind: "replied", status, afterMs: 60_000 } : { kind: "replied", status: 200 },
    );
    await put("first");
    await webhooks.start();
    await until(() => times.length === 1);
    await until(() => clock.timers() > 0);
    await put("second");
    webhooks.wake();
    for (let second = 1; second < 60; second++) await clock.advance(1000);
    assert.equal(times.length, 1, "neither the same webhook nor another one");
    await until(async () => {
      await clock.advance(1000);
      return (await left()) === 0;
    });
    assert.equal(times.length, 3);
  });

test("a receiver that is gone is not tried again (webhook-sender.7)", async (t) => {
  const { times, lines, webhooks, left, put } = await setUpHttp(t, () => ({ kind: "replied", status: 410 }));
  await put("first");
  await webhooks.start();
  await until(async () => (await left()) === 0);
  assert.equal(times.length, 1);
  assert.deepEqual(
    lines.map(({ event, reason }) => [event, reason]),
    [["webhook_given_up", "status 410"]],
  );
});

test("failed attempts at one host are one line a minute, and each is counted (webhook-sender.8)", async (t) => {
  const { clock, times, lines, webhooks, left, put } = await setUpHttp(t, () => ({ kind: "replied", status: 500 }));
  await put(...names(30));
  await webhooks.start();
  await until(async () => {
    await clock.advance(1000);
    return (await left()) === 0;
  });
  await webhooks.stop();
  assert.equal(times.length, 90);
  const failed = lines.filter(({ event }) => event === "webhook_failed");
  assert.ok(failed.length <= 2 + clock.monotonic() / 60_000, `${failed.length} lines`);
  const counted = failed.reduce((sum, { repeated }) => sum + (typeof repeated === "number" ? repeated : 1), 0);
  assert.equal(counted, 60);
});
