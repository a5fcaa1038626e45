// Tests with the official client, unmodified: everyday calls, and its behaviour after a cut call.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, suite, test } from "node:test";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newNotes, type Result, type WireInterrupt } from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const server = await startServerHere();
const folder = temporaryFolder();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const questions = (values: unknown): readonly WireInterrupt[] => (values as Result).__interrupt__ ?? [];

/** The client's error for a refusal. */
function refusal(status: number, code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, new RegExp(`^HTTP ${status}: `));
    assert.match(error.message, new RegExp(`"code":"${code}"`));
    return true;
  };
}

test("opens, lists and answers an interrupt", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  const paused = await client.runs.wait(id, "agent", { input: { some_text: "original text" } });
  const [question] = questions(paused);
  assert.ok(question);
  assert.deepEqual(question.value, { text_to_revise: "original text" });

  const thread = await client.threads.get(id);
  assert.equal(thread.status, "interrupted");
  const [shown] = Object.values(thread.interrupts).flat();
  assert.deepEqual([shown?.id, shown?.value], [question.id, question.value]);
  const state = await client.threads.getState(id);
  assert.deepEqual(state.next, ["human_node"]);
  assert.equal(state.tasks[0]?.interrupts[0]?.id, question.id);

  const result = await client.runs.wait(id, "agent", { command: { resume: "Edited text" } });
  assert.deepEqual(result, { some_text: "Edited text" });
  assert.equal((await client.threads.get(id)).status, "idle");
});

test("several questions are answered by id, also when the answer is false", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  const paused = await client.runs.wait(id, "parallel", { input: {} });
  const resume = Object.fromEntries(questions(paused).map((question, at) => [question.id, at > 0]));
  const result = (await client.runs.wait(id, "parallel", { command: { resume } })) as Result;
  assert.deepEqual(new Set(result["done"] as string[]), new Set(["quiet", "zebra=false", "lion=true", "ape=true"]));
});

test("breakpoints, an update of the state, and going on", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  const stopped = await client.runs.wait(id, "steps", { input: {}, interruptBefore: ["node_b"] });
  assert.deepEqual(stopped, { visited: ["node_a"], __interrupt__: [] });
  const { configurable } = await client.threads.updateState(id, { values: { visited: ["by hand"] }, asNode: "node_a" });
  const state = await client.threads.getState(id);
  assert.equal(state.checkpoint.checkpoint_id, configurable?.checkpoint_id);
  assert.deepEqual(state.next, ["node_b"]);
  const again = await client.runs.wait(id, "steps", { input: null, interruptAfter: "*" });
  assert.deepEqual(again, { visited: ["node_a", "by hand", "node_b"], __interrupt__: [] });
  const end = await client.runs.wait(id, "steps");
  assert.deepEqual(end, { visited: ["node_a", "by hand", "node_b", "node_c"] });
});

test("history, and states at a checkpoint, in the client's form", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "steps", { input: {} });
  const all = await client.threads.getHistory(id);
  assert.deepEqual(
    all.map(({ next }) => next),
    [[], ["node_c"], ["node_b"], ["node_a"], ["__start__"]],
  );
  const second = all[1]?.checkpoint;
  assert.ok(second);
  const before = { configurable: { thread_id: id, checkpoint_id: second.checkpoint_id ?? "", checkpoint_ns: "" } };
  const earlier = await client.threads.getHistory(id, { before, limit: 2 });
  assert.deepEqual(
    earlier.map(({ next }) => next),
    [["node_b"], ["node_a"]],
  );
  const byMetadata = await client.threads.getHistory(id, { metadata: { step: 1 } });
  assert.deepEqual(
    byMetadata.map(({ next }) => next),
    [["node_b"]],
  );
  for (const at of [second, second.checkpoint_id ?? ""]) {
    const state = await client.threads.getState(id, at, { subgraphs: true });
    assert.deepEqual(state.values, { visited: ["node_a", "node_b"] });
  }
  const select = ["next", "values.visited"] as const;
  const part = { values: { visited: ["node_a", "node_b"] }, next: ["node_c"] };
  for (const at of [second, second.checkpoint_id ?? ""])
    assert.deepEqual(await client.threads.getState(id, at, { select: [...select] }), part);
  assert.deepEqual((await client.threads.getHistory(id, { select: [...select], limit: 2 }))[1], part);
  assert.deepEqual(await client.threads.getState(id, undefined, { select: ["values.other", "created_at"] }), {
    values: {},
    created_at: all[0]?.created_at,
  });
  const wrong = client.threads.getState(id, undefined, { select: ["value" as "values"] });
  await assert.rejects(wrong, refusal(422, "invalid_request"));
  const fork = await client.runs.wait(id, "steps", { input: null, checkpoint: second });
  assert.deepEqual(fork, { visited: ["node_a", "node_b", "node_c"] });
});

test("nested states, in the client's form", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  const paused = await client.runs.wait(id, "deep", { input: {} });
  const [question] = questions(paused);
  const state = await client.threads.getState(id, undefined, { subgraphs: true });
  const inner = state.tasks[0]?.state?.tasks[0]?.state?.tasks[0];
  assert.equal(inner?.name, "ask_twice");
  assert.equal(inner.interrupts[0]?.id, question?.id);
});

test("threads: metadata, search, count, copy, delete", PATIENCE, async () => {
  const graphId = "steps";
  const made = await client.threads.create({ metadata: { case: "sdk", n: 1 }, graphId, ttl: 60 });
  const other = await client.threads.create({ metadata: { case: "sdk", n: 2 } });
  const same = await client.threads.create({ threadId: made.thread_id, ifExists: "do_nothing" });
  assert.deepEqual(same.metadata, made.metadata);
  await assert.rejects(client.threads.create({ threadId: made.thread_id }), refusal(409, "thread_exists"));
  await client.threads.update(made.thread_id, { metadata: { colour: "red" } });
  assert.equal(
    await client.threads.update(other.thread_id, { metadata: { colour: "blue" }, returnMinimal: true }),
    undefined,
  );

  const byState = await client.threads.search({ metadata: { case: "sdk" }, sortBy: "state_updated_at" });
  assert.equal(byState.length, 2);
  const search = { metadata: { case: "sdk" }, sortBy: "created_at", sortOrder: "asc" } as const;
  const found = await client.threads.search(search);
  assert.deepEqual(
    found.map(({ thread_id }) => thread_id),
    [made.thread_id, other.thread_id],
  );
  assert.deepEqual(
    found.map(({ metadata }) => metadata?.["colour"]),
    ["red", "blue"],
  );
  assert.equal((await client.threads.search({ ...search, limit: 1, offset: 1 }))[0]?.thread_id, other.thread_id);
  assert.equal(await client.threads.count({ metadata: { case: "sdk" } }), 2);

  await client.runs.wait(other.thread_id, "agent", { input: { some_text: "needle" } });
  assert.equal(await client.threads.count({ metadata: { case: "sdk" }, status: "interrupted" }), 1);
  assert.equal(await client.threads.count({ values: { some_text: "needle" } }), 1);
  const byValues = await client.threads.search({ values: { some_text: "needle" }, select: ["thread_id", "status"] });
  assert.deepEqual(byValues, [{ thread_id: other.thread_id, status: "interrupted" }]);
  assert.equal((await client.threads.search({ ids: [made.thread_id] })).length, 1);

  const copy = await client.threads.copy(other.thread_id);
  assert.equal(copy.status, "interrupted");
  const answered = await client.runs.wait(copy.thread_id, "agent", { command: { resume: "copied" } });
  assert.deepEqual(answered, { some_text: "copied" });
  assert.equal((await client.threads.get(other.thread_id)).status, "interrupted");

  await client.threads.delete(made.thread_id);
  await assert.rejects(client.threads.get(made.thread_id), refusal(404, "thread_not_found"));
});

test("runs: create, join, get, list, delete", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  const run = await client.runs.create(id, "steps", { input: {}, metadata: { origin: "sdk" } });
  assert.deepEqual(await client.runs.join(id, run.run_id), { visited: ["node_a", "node_b", "node_c"] });
  const read = await client.runs.get(id, run.run_id);
  assert.deepEqual([read.status, read.metadata?.["origin"]], ["success", "sdk"]);
  await client.runs.wait(id, "steps", { input: {} });
  assert.equal((await client.runs.list(id)).length, 2);
  assert.deepEqual(
    (await client.runs.list(id, { limit: 1, offset: 1 })).map(({ run_id }) => run_id),
    [run.run_id],
  );
  assert.equal((await client.runs.list(id, { status: "error" })).length, 0);
  await client.runs.delete(id, run.run_id);
  await assert.rejects(client.runs.get(id, run.run_id), refusal(404, "run_not_found"));
});

for (const { action, wait, status, kept } of [
  { action: "interrupt", wait: true, status: "interrupted", kept: { result: "half" } },
  { action: "interrupt", wait: false, status: "interrupted", kept: { result: "half" } },
  { action: "rollback", wait: true, status: "error", kept: undefined },
  { action: "rollback", wait: false, status: "error", kept: undefined },
] as const) {
  test(`cancel with ${action}${wait ? ", waiting" : ""}: the thread can be used again`, PATIENCE, async () => {
    const { thread_id: id } = await client.threads.create();
    const notes = newNotes(folder);
    const run = await client.runs.create(id, "slow", { input: { notes: notes.notes, waitMs: 60_000 } });
    await notes.reached("waits");
    await client.runs.cancel(id, run.run_id, wait, action);
    const statusNow = async () => (await client.runs.get(id, run.run_id)).status;
    if (!wait) await client.runs.join(id, run.run_id).catch(() => undefined);
    assert.equal(await statusNow(), status);
    const thread = await client.threads.get(id);
    assert.equal(thread.status, "idle");
    assert.equal((thread.values as Result | undefined)?.["result"], kept?.result);
    assert.equal(notes.count("waited"), 0);
    await client.runs.cancel(id, run.run_id, wait, action); // a second time changes nothing
    const result = (await client.runs.wait(id, "slow", { input: { waitMs: 0 } })) as Result;
    assert.equal(result["result"], "whole");
  });
}

test(
  "cancelling the run that carries an answer leaves the question open, or answered, and never lost",
  PATIENCE,
  async () => {
    const { thread_id: id } = await client.threads.create();
    await client.runs.wait(id, "agent", { input: { some_text: "x" } });
    const run = await client.runs.create(id, "agent", { command: { resume: "y" } });
    await client.runs.cancel(id, run.run_id, true);
    const thread = await client.threads.get(id);
    if (thread.status === "interrupted") {
      assert.equal(Object.values(thread.interrupts).flat().length, 1);
      assert.deepEqual(await client.runs.wait(id, "agent", { command: { resume: "z" } }), { some_text: "z" });
    } else {
      assert.deepEqual([thread.status, thread.values], ["idle", { some_text: "y" }]);
    }
  },
);

test("a failing node is thrown by the client, with its own name and message", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  await assert.rejects(client.runs.wait(id, "failing", { input: {} }), /NodeFault: this node always fails/);
  const result = await client.runs.wait(id, "failing", { input: {}, raiseError: false });
  assert.deepEqual(Object.keys(result as object), ["__error__"]);
  assert.equal((await client.threads.get(id)).status, "error");
});

test("refusals reach the caller with their code, at once", PATIENCE, async () => {
  const { thread_id: id } = await client.threads.create();
  await assert.rejects(client.runs.wait(id, "agent", { command: { resume: 1 } }), refusal(409, "no_pending_interrupt"));
  await assert.rejects(client.runs.wait(id, "nobody", { input: {} }), refusal(404, "assistant_not_found"));
  await assert.rejects(
    client.runs.wait(id, "steps", { input: {}, interruptBefore: ["x"] }),
    refusal(422, "node_unknown"),
  );
});

test("assistants: each graph has one, found by name and by id", PATIENCE, async () => {
  const [assistant] = await client.assistants.search({ graphId: "agent" });
  assert.ok(assistant);
  assert.deepEqual((await client.assistants.get("agent")).assistant_id, assistant.assistant_id);
  assert.deepEqual((await client.assistants.get(assistant.assistant_id)).graph_id, "agent");
  const { thread_id: id } = await client.threads.create();
  const result = await client.runs.wait(id, assistant.assistant_id, { input: { some_text: "by id" } });
  assert.equal(questions(result).length, 1);
  const page = await client.assistants.search({ limit: 2, includePagination: true });
  assert.deepEqual([page.assistants.length, page.next], [2, "2"]);
});

// Disturbed calls. Since 1.15 the client retries a POST only when the connection failed: it throws on a 503 or a
// truncated reply, and the caller retries. The proxy disturbs one call after the other; then it passes all.

type Fault = "refuse" | "cut off" | "refuse after" | "pass";

async function proxyTo(
  target: string,
  faults: Fault[],
): Promise<{ readonly server: Server; readonly url: string; readonly passed: () => number }> {
  let passed = 0;
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const fault = faults.shift() ?? "pass";
    if (fault === "refuse") return void outgoing.writeHead(503, { "retry-after": "0" }).end("busy");
    const { "idempotency-key": key } = incoming.headers;
    const response = await call(
      { url: target },
      incoming.method ?? "GET",
      incoming.url ?? "/",
      Buffer.concat(chunks).toString(),
      typeof key === "string" ? { "idempotency-key": key } : {},
    );
    passed++;
    if (fault === "cut off") return void incoming.socket.resetAndDestroy();
    if (fault === "refuse after") return void outgoing.writeHead(503).end("lost");
    outgoing.writeHead(response.status, { "content-type": response.headers.get("content-type") ?? "text/plain" });
    outgoing.end(response.text);
  };
  const proxy = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return { server: proxy, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, passed: () => passed };
}

interface Case {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly key: boolean;
  /** Calls that reached the server. */
  readonly passed: number;
  /** The client's first exception. */
  readonly thrown: RegExp;
  /** How the repeated call ends. */
  readonly ends: "result" | "known";
}

const BROKEN = /fetch failed|Unable to connect/;
const CUT: readonly Case[] = [
  { name: "refused with 503", faults: ["refuse"], key: false, passed: 1, thrown: /^HTTP 503: busy/, ends: "result" },
  { name: "cut off before its headers", faults: ["cut off"], key: false, passed: 2, thrown: BROKEN, ends: "known" },
  {
    name: "answered 503 by a proxy that had passed it on",
    faults: ["refuse after"],
    key: false,
    passed: 2,
    thrown: /^HTTP 503: lost/,
    ends: "known",
  },
  {
    name: "answered 503 after it was passed on, with an Idempotency-Key",
    faults: ["refuse after"],
    key: true,
    passed: 2,
    thrown: /^HTTP 503: lost/,
    ends: "result",
  },
  {
    name: "cut off, with an Idempotency-Key",
    faults: ["cut off"],
    key: true,
    passed: 2,
    thrown: BROKEN,
    ends: "result",
  },
];

suite("an answer whose call is disturbed counts once, and its sender can see it", { concurrency: true }, () => {
  for (const { name, faults, key, passed, thrown, ends } of CUT) {
    test(name, PATIENCE, async (t) => {
      const notes = newNotes(folder);
      const { thread_id: id } = await client.threads.create();
      await client.runs.wait(id, "echo", { input: { notes: notes.notes } });
      const proxy = await proxyTo(server.url, [...faults]);
      t.after(() => proxy.server.close());
      const disturbed = new Client({
        apiUrl: proxy.url,
        apiKey: null,
        ...(key ? { defaultHeaders: { "Idempotency-Key": `cut-${id}` } } : {}),
      });
      const send = () => disturbed.runs.wait(id, "echo", { command: { resume: { ok: 1 } } });
      await assert.rejects(send(), ({ message }: Error) => thrown.test(message));
      const answer = send();
      if (ends === "result") {
        assert.deepEqual(((await answer) as Result)["answer"], [{ ok: 1 }]);
      } else {
        await assert.rejects(answer, (error) => {
          assert.ok(error instanceof Error && error.message.startsWith("HTTP 409: "));
          const problem = JSON.parse(error.message.slice("HTTP 409: ".length)) as {
            readonly answered: { readonly same_value: boolean; readonly run_id: string };
          };
          assert.equal(problem.answered.same_value, true); // so the first try went through
          return true;
        });
      }
      assert.equal(proxy.passed(), passed);
      assert.equal(notes.count("after"), 1);
      assert.equal((await client.runs.list(id)).length, 2);
      assert.deepEqual((await client.threads.getState(id)).values, { notes: notes.notes, answer: [{ ok: 1 }] });
    });
  }
});
