// Rows of the calls about runs that exist.
import type { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { type Check, collect, ran, type ShownRun } from "./rows.ts";

export const RUNS: Readonly<Record<string, Check>> = {
  list: async ({ client }) => assert.equal((await client.runs.list(await ran(client))).length, 1),
  "list.limit": async ({ client }) => {
    const id = await ran(client);
    await client.runs.wait(id, "steps", { input: {} });
    assert.equal((await client.runs.list(id, { limit: 1 })).length, 1);
  },
  "list.offset": async ({ client }) => assert.deepEqual(await client.runs.list(await ran(client), { offset: 1 }), []),
  "list.status": async ({ client }) => {
    assert.deepEqual(await client.runs.list(await ran(client), { status: "error" }), []);
  },
  "list.select": async ({ client }) => {
    const found = await client.runs.list(await ran(client), { select: ["status", "cancel_reason"] });
    assert.deepEqual(found, [{ status: "success", cancel_reason: null }]);
  },
  get: async ({ client }) => {
    const id = await ran(client);
    const [run] = await client.runs.list(id);
    assert.deepEqual(await client.runs.get(id, run?.run_id ?? ""), run);
  },
  delete: async ({ client }) => {
    const id = await ran(client);
    const [run] = await client.runs.list(id);
    await client.runs.delete(id, run?.run_id ?? "");
    assert.deepEqual(await client.runs.list(id), []);
  },
  cancel: async ({ client }) => {
    const { thread_id: threadId, run_id: runId } = await slowRun(client);
    await client.runs.cancel(threadId, runId, true);
    const run = (await client.runs.get(threadId, runId)) as ShownRun;
    assert.deepEqual([run.status, run.ended_by], ["interrupted", "cancel"]);
    assert.match(run.cancel_reason ?? "", /^requested:/);
    const [listed] = await client.runs.list(threadId);
    assert.equal((listed as ShownRun).cancel_reason, run.cancel_reason);
  },
  "cancel.reason": async ({ client }) => {
    const { thread_id: threadId, run_id: runId } = await slowRun(client);
    await assert.rejects(client.runs.cancel(threadId, runId, true, "rollback", { reason: "taken" }), /HTTP 422/);
    await client.runs.cancel(threadId, runId, true, "interrupt", { reason: "taken" });
    assert.match(((await client.runs.get(threadId, runId)) as ShownRun).cancel_reason ?? "", /^taken:/);
  },
  cancelMany: async ({ client }) => {
    const { thread_id: threadId } = await slowRun(client);
    await client.runs.cancelMany({ threadId, status: "all" });
    assert.deepEqual(await listEnds(client, threadId), ["cancel"]);
  },
  "cancelMany.threadId": async ({ client }) => {
    const [one, other] = [await slowRun(client), await slowRun(client)];
    await client.runs.cancelMany({ threadId: one.thread_id, status: "all" });
    assert.equal((await client.runs.get(other.thread_id, other.run_id)).status !== "interrupted", true);
    await client.runs.cancel(other.thread_id, other.run_id, true);
  },
  "cancelMany.runIds": async ({ client }) => {
    const { thread_id: threadId, run_id: runId } = await slowRun(client);
    const second = await client.runs.create(threadId, "slow", { input: { waitMs: 60_000 } });
    await client.runs.cancelMany({ threadId, runIds: [second.run_id] });
    assert.equal((await client.runs.get(threadId, second.run_id)).status, "interrupted");
    await client.runs.cancel(threadId, runId, true);
  },
  "cancelMany.status": async ({ client }) => {
    const { thread_id: threadId, run_id: runId } = await slowRun(client);
    const second = await client.runs.create(threadId, "slow", { input: { waitMs: 60_000 } });
    await client.runs.cancelMany({ threadId, status: "pending" });
    assert.equal((await client.runs.get(threadId, second.run_id)).status, "interrupted");
    await client.runs.cancel(threadId, runId, true);
  },
  "cancelMany.action": async ({ client }) => {
    const { thread_id: threadId } = await slowRun(client);
    await client.runs.cancelMany({ threadId, status: "all", action: "rollback" });
    assert.deepEqual(await listEnds(client, threadId), ["rollback"]);
  },
  join: async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    const run = await client.runs.create(id, "steps", { input: {} });
    assert.deepEqual(await client.runs.join(id, run.run_id), { visited: ["node_a", "node_b", "node_c"] });
  },
  "join.cancelOnDisconnect": leaves((client, run, signal) =>
    client.runs.join(run.thread_id, run.run_id, { cancelOnDisconnect: true, signal }),
  ),
  joinStream: async ({ client }) => {
    const run = await streamedRun(client);
    const whole = ["metadata", "updates", "values", "updates", "values", "updates", "values"];
    assert.deepEqual((await readNames(client, run, {})).toSorted(), [...whole, "values"].toSorted());
  },
  "joinStream.lastEventId": async ({ client }) => {
    const run = await streamedRun(client);
    const all = await collect(client.runs.joinStream(run.thread_id, run.run_id, { lastEventId: "-1" }));
    const rest = await readNames(client, run, { lastEventId: all.at(-2)?.id ?? "" });
    assert.equal(rest.length, 1);
  },
  "joinStream.streamMode": async ({ client }) => {
    const names = await readNames(client, await streamedRun(client), { lastEventId: "-1", streamMode: "updates" });
    assert.deepEqual(names, ["metadata", "updates", "updates", "updates"]);
  },
  "joinStream.streamNamespaces": async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    const options = { input: {}, streamMode: "updates", streamSubgraphs: true } as const;
    const run = await client.runs.create(id, "nested_parallel", options);
    await client.runs.join(id, run.run_id);
    const all = await readNames(client, run, { lastEventId: "-1" });
    const below = [...new Set(all.filter((name) => name.includes("|")))];
    assert.ok(below.length > 0);
    for (const name of below) {
      const namespace = name.split("|").slice(1).join("|");
      const some = await readNames(client, run, { lastEventId: "-1", streamNamespaces: [namespace] });
      assert.deepEqual(
        [...new Set(some)],
        [
          "metadata",
          ...below.filter(
            (other) => other.endsWith(`|${namespace}`) && other.split("|").slice(1).join("|") === namespace,
          ),
        ],
      );
    }
    const root = await readNames(client, run, { lastEventId: "-1", streamNamespaces: [""] });
    assert.ok(root.every((one) => !one.includes("|")));
  },
  "joinStream.checkpointId": async ({ client }) => {
    const run = await streamedRun(client);
    const place = { lastEventId: "-1", streamMode: "values" as const };
    const states = async (checkpointId: string) =>
      (await collect(client.runs.joinStream(run.thread_id, run.run_id, { ...place, checkpointId }))).flatMap(
        ({ event, data }) =>
          event === "values" ? [(data as { readonly visited: readonly string[] }).visited.length] : [],
      );
    const at = (await client.threads.getHistory(run.thread_id)).find(({ next }) => next[0] === "node_b");
    assert.deepEqual(await states(at?.checkpoint.checkpoint_id ?? ""), [2, 3]);
    assert.deepEqual(await states(crypto.randomUUID()), [0, 1, 2, 3], "no checkpoint of the run: the whole run");
  },
  "joinStream.cancelOnDisconnect": leaves((client, run, signal) =>
    collect(client.runs.joinStream(run.thread_id, run.run_id, { cancelOnDisconnect: true, signal })),
  ),
};

interface Place {
  readonly thread_id: string;
  readonly run_id: string;
}

async function slowRun(client: Client): Promise<Place> {
  const { thread_id: id } = await client.threads.create();
  return client.runs.create(id, "slow", { input: { waitMs: 60_000 } });
}

async function streamedRun(client: Client): Promise<Place> {
  const { thread_id: id } = await client.threads.create();
  const options = { input: { visited: [] }, streamMode: ["updates", "values"] as ("updates" | "values")[] };
  const run = await client.runs.create(id, "steps", options);
  await client.runs.join(id, run.run_id);
  return run;
}

async function readNames(client: Client, run: Place, options: object): Promise<readonly string[]> {
  return (await collect(client.runs.joinStream(run.thread_id, run.run_id, options))).map(({ event }) => event);
}

async function listEnds(client: Client, threadId: string): Promise<readonly (string | null)[]> {
  const runs = await client.runs.list(threadId);
  await Promise.all(runs.map((run) => client.runs.join(threadId, run.run_id).catch(() => null)));
  return (await client.runs.list(threadId)).map((run) => (run as ShownRun).ended_by);
}

/** A caller that leaves ends the run. */
function leaves(wait: (client: Client, run: Place, signal: AbortSignal) => Promise<unknown>): Check {
  return async ({ client }) => {
    const run = await slowRun(client);
    const leaving = new AbortController();
    const reached = client.runs.joinStream(run.thread_id, run.run_id, { lastEventId: "-1" });
    await reached.next();
    const left = wait(client, run, leaving.signal);
    setImmediate(() => leaving.abort());
    await assert.rejects(left);
    await reached.return(undefined);
    await client.runs.cancel(run.thread_id, run.run_id, true); // ends a run whose caller left before the server knew him
    assert.equal(((await client.runs.get(run.thread_id, run.run_id)) as ShownRun).ended_by, "cancel");
  };
}
