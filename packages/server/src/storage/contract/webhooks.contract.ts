// Contract of the storage port for deliveries, and webhooks of runs, one part of storage.contract.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunWebhook, Webhook } from "../../model/model.ts";
import type { OpenStorage } from "./open-storage.ts";
import { newId, newRun, newThread, ODD } from "./samples.contract.ts";

export function webhookCases(open: OpenStorage): void {
  test("a due webhook is claimed, longest due first, and becomes due again if its attempt never ends", async (t) => {
    const storage = await open(t);
    const newWebhook = (host: string, dueAt: number, body = "{}"): Webhook => {
      const runId = newId();
      const sent = {
        url: `https://${host}/x`,
        host,
        channel: "http",
        batch: null,
        body,
        headers: { x: "1" },
      } as const;
      return { runId, ...sent, attempts: 0, dueAt, createdAt: 1 };
    };
    const [late, first, other] = [newWebhook("a", 50), newWebhook("a", 10, JSON.stringify(ODD)), newWebhook("b", 20)];
    await storage.transaction(async (tx) => {
      for (const webhook of [late, first, other]) await tx.putWebhook(webhook);
      await tx.putWebhook({ ...first, body: "again" });
    });
    const claim = (at: number, hosts: readonly string[] = []) =>
      storage.transaction((tx) => tx.claimWebhook(at, at + 1000, hosts));
    const nextAt = (hosts: readonly string[] = []) => storage.transaction((tx) => tx.nextWebhookAt(hosts));
    assert.equal(await claim(9), null);
    assert.equal(await nextAt(), 10);
    assert.deepEqual(await claim(30), { ...first, attempts: 1, dueAt: 1030 }, "once per run, as it was first");
    assert.equal(await claim(30, ["b"]), null);
    assert.equal(await nextAt(["b"]), 50);
    assert.equal((await claim(30))?.runId, other.runId);
    await storage.transaction((tx) => tx.deleteWebhook(other.runId));
    await storage.transaction((tx) => tx.delayWebhook(late.runId, 5000));
    assert.equal(await claim(1029), null);
    assert.deepEqual(await claim(1030), { ...first, attempts: 2, dueAt: 2030 });
    assert.equal(await storage.transaction((tx) => tx.countWebhooks()), 2);
    await storage.transaction((tx) => tx.deleteWebhook(first.runId));
    assert.equal(await nextAt(), 5000);
  });

  test("webhooks of a run are replaced by id, listed oldest first, and go with their thread", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    const run = newRun(thread.threadId);
    const one: RunWebhook = {
      threadId: run.threadId,
      runId: run.runId,
      webhookId: "a",
      url: "https://a/x",
      format: "a2a",
      headers: { authorization: "Bearer 1" },
      createdAt: 2,
    };
    const other: RunWebhook = { ...one, webhookId: "b", format: "event", headers: {}, createdAt: 1 };
    const listed = (runId = run.runId) => storage.read((tx) => tx.runWebhooks(run.threadId, runId));
    assert.deepEqual(await listed(), []);
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.insertRun(run);
      for (const webhook of [{ ...one, url: "https://a/old" }, other, one]) await tx.putRunWebhook(webhook);
    });
    assert.deepEqual(await listed(), [other, one]);
    assert.deepEqual(await listed(newId()), []);
    await storage.transaction((tx) => tx.deleteRunWebhook(run.threadId, run.runId, "b"));
    assert.deepEqual(await listed(), [one]);
    await storage.transaction((tx) => tx.deleteThread(run.threadId));
    assert.deepEqual(await listed(), []);
  });
}
