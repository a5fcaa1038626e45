// Tests of questions over the thread protocol: how each opens and closes, whoever closes it.
//   thread-questions.1. The namespace of an answer does not count: deep, shallow, empty and wrong ones answer a question
//     two graphs below the root.
//   thread-questions.2. Whatever closes a question, every reader gets `input.answered` with the cause, also at the end of
//     a stream whose thread is deleted.
//   thread-questions.3. REST answers a question of a protocol run, and the protocol one of a REST run.
//   thread-questions.4. Refusals have their codes, and the ids of the questions that are open.
//   thread-questions.5. A node that asks again makes a new question.
//   thread-questions.6. An answer whose run was cancelled before its start is void: the question is requested again, and
//     a run behind it that refuses a pause ends.
//   thread-questions.7. Answers in one batch reach their nodes in one run.
//   thread-questions.8. Answers to several questions of a pause that arrive at the same time all count, one run each.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { answer, readItems } from "../harness/inbox.ts";
import { PATIENCE } from "../harness/patience.ts";
import { isEnd, isRunEnd, isRunning } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { type EventReader, openEvents, type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";
import { openThread } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const LIFE = { channels: ["lifecycle", "input"], namespaces: [] };
const isRequest = ({ method }: ProtocolEvent): boolean => method === "input.requested";
const isAnswered = ({ method }: ProtocolEvent): boolean => method === "input.answered";
const send = (threadId: string, method: string, params: object) => sendCommand(server, threadId, method, params);

interface Paused {
  readonly threadId: string;
  readonly reader: EventReader;
  readonly requests: readonly ProtocolEvent[];
  readonly ids: readonly string[];
}

async function paused(assistant: string, input: object = {}): Promise<Paused> {
  const threadId = randomUUID();
  const reader = await openEvents(server, threadId, LIFE);
  await send(threadId, "run.start", { assistant_id: assistant, input });
  const requests = (await reader.until(isEnd)).filter(isRequest);
  return { threadId, reader, requests, ids: requests.map(({ data }) => String(data["interrupt_id"])) };
}

/** From an answer to the end of its run. */
async function answered({ reader }: Paused, reply: Promise<{ readonly result: object }>) {
  const { result } = await reply;
  const events = await reader.until(isRunEnd((result as { readonly run_id?: string }).run_id));
  return { events, end: events.at(-1)?.data["event"], requests: events.filter(isRequest) };
}

for (const kind of ["deep", "shallow", "empty", "wrong"] as const) {
  test(`an answer with a namespace that is ${kind} (thread-questions.1)`, PATIENCE, async () => {
    const thread = await paused("deep");
    const live = thread.requests[0]?.namespace ?? [];
    assert.deepEqual(
      live.map((segment) => segment.split(":")[0]),
      ["outer", "inside"],
    );
    const namespace = { deep: live, shallow: live.slice(0, 1), empty: [], wrong: ["nonesuch:1"] }[kind];
    const respond = (id: unknown, response: string) =>
      send(thread.threadId, "input.respond", { namespace, interrupt_id: id, response });
    const first = await answered(thread, respond(thread.ids[0], "one"));
    assert.deepEqual(
      first.requests.map(({ data }) => data["payload"]),
      [{ question: "deep second" }],
    );
    assert.notEqual(first.requests[0]?.data["interrupt_id"], thread.ids[0]);
    const second = await answered(thread, respond(first.requests[0]?.data["interrupt_id"], "two"));
    assert.equal(second.end, "completed");
    const { result } = await send(thread.threadId, "state.get", { keys: ["first", "second"] });
    assert.deepEqual(result["values"], { first: "one", second: "two" });
    thread.reader.close();
  });
}

const closings: readonly (readonly [what: string, how: string, close: (thread: Paused) => Promise<unknown>])[] = [
  [
    "an answer over the protocol",
    "answered",
    ({ threadId, ids }) => send(threadId, "input.respond", { interrupt_id: ids[0], response: 1 }),
  ],
  ["an answer over REST", "answered", ({ threadId }) => openThread(server, "echo", threadId).resume(1)],
  [
    "an answer in the inbox",
    "answered",
    async ({ threadId }) => {
      const [item] = await readItems(server, threadId);
      const [result] = await answer(server, [{ thread_id: threadId, interrupt_id: item?.id, resume: 1 }]);
      assert.equal(result?.status, "answered");
    },
  ],
  [
    "new input",
    "abandoned",
    ({ threadId }) => send(threadId, "run.start", { assistant_id: "echo", input: { payload: 2 } }),
  ],
  [
    "an edit of the state",
    "abandoned",
    async ({ threadId }) => {
      const edit = { values: { answer: 1 }, as_node: "ask" };
      assert.equal((await call(server, "POST", `/threads/${threadId}/state`, edit)).status, 200);
    },
  ],
];
for (const [what, how, close] of closings) {
  test(`${what} closes the question for every reader (thread-questions.2)`, PATIENCE, async () => {
    const thread = await paused("echo", { payload: 1 });
    const others = [await openEvents(server, thread.threadId, LIFE), await openEvents(server, thread.threadId, LIFE)];
    for (const other of others) await other.until(isEnd);
    await close(thread);
    for (const reader of [thread.reader, ...others]) {
      const told = (await reader.until(isAnswered)).at(-1);
      assert.deepEqual(told?.data, { interrupt_ids: thread.ids, how });
      reader.close();
    }
  });
}

test("a deadline closes the question for every reader (thread-questions.2)", PATIENCE, async () => {
  const payload = { question: "?", expires_in_seconds: 1, on_expiry: "fail" };
  const threadId = randomUUID();
  const readers = [await openEvents(server, threadId, LIFE), await openEvents(server, threadId, LIFE)];
  await send(threadId, "run.start", { assistant_id: "timed", input: { payload } });
  for (const reader of readers) {
    const seen = await reader.until(isAnswered);
    const request = seen.find(isRequest);
    assert.equal(typeof request?.data["expires_at"], "string");
    assert.deepEqual(seen.at(-1)?.data, { interrupt_ids: [request?.data["interrupt_id"]], how: "expired" });
    reader.close();
  }
});

test("a deletion closes the questions that wait (thread-questions.2)", PATIENCE, async () => {
  const thread = await paused("parallel");
  const [first, ...others] = thread.ids;
  const late = await openEvents(server, thread.threadId, LIFE);
  await late.until(isEnd);
  for (const reader of [thread.reader, late]) {
    const { result } = await send(thread.threadId, "input.respond", { interrupt_id: first, response: 1 });
    await reader.until(isRunEnd(result["run_id"])); // the second one is the same again
  }
  const other = await openEvents(server, thread.threadId, { channels: ["lifecycle"] });
  assert.equal((await call(server, "DELETE", `/threads/${thread.threadId}`)).status, 204);
  const told: (ProtocolEvent | undefined)[] = [];
  for (const reader of [thread.reader, late]) {
    told.push((await reader.until(isAnswered)).at(-1));
    await assert.rejects(reader.until(() => false));
  }
  for (const event of told) {
    const { interrupt_ids: ids, how } = event?.data ?? {};
    assert.deepEqual([new Set(ids as readonly string[]), how], [new Set(others), "deleted"]);
  }
  assert.equal(told[0]?.id, told[1]?.id);
  await assert.rejects(other.until(isAnswered));
});

test("REST and the protocol answer each other's questions (thread-questions.3)", PATIENCE, async () => {
  const ofProtocol = await paused("echo", { payload: 1 });
  await openThread(server, "echo", ofProtocol.threadId).resume({ [ofProtocol.ids[0] ?? ""]: "by REST" });
  assert.equal((await ofProtocol.reader.until(isEnd)).at(-1)?.data["event"], "completed");
  ofProtocol.reader.close();

  const threadId = String((await call(server, "POST", "/threads", {})).body["thread_id"]);
  await openThread(server, "echo", threadId).run({ input: { payload: 1 } });
  const reader = await openEvents(server, threadId, LIFE);
  const id = (await reader.until(isEnd)).find(isRequest)?.data["interrupt_id"];
  const reply = await send(threadId, "input.respond", { interrupt_id: id, response: "by the protocol" });
  await reader.until(isRunEnd(reply.result["run_id"]));
  assert.deepEqual((await send(threadId, "state.get", { keys: ["answer"] })).result["values"], {
    answer: ["by the protocol"],
  });
  reader.close();
});

test("refusals of answers (thread-questions.4)", PATIENCE, async () => {
  const unknown = "0".repeat(32);
  const respond = (threadId: string, id: unknown) => send(threadId, "input.respond", { interrupt_id: id, response: 1 });
  const thread = await paused("parallel");
  const [first, ...others] = thread.ids;
  const missing = await respond(thread.threadId, unknown);
  assert.deepEqual(
    [missing.error, missing["code"], missing["reason"], missing["interrupt_ids"]],
    ["no_such_interrupt", "interrupt_unknown", "not_pending", [unknown]],
  );
  assert.deepEqual(new Set(missing["pending_ids"] as readonly string[]), new Set(thread.ids));
  await answered(thread, respond(thread.threadId, first));
  const again = await send(thread.threadId, "input.respond", { interrupt_id: first, response: 2 });
  assert.deepEqual(
    [again.error, again["code"], again["reason"]],
    ["no_such_interrupt", "interrupt_stale", "not_pending"],
  );
  assert.deepEqual(new Set(again["pending_ids"] as readonly string[]), new Set(others));
  thread.reader.close();

  const idle = randomUUID();
  await send(idle, "run.start", { assistant_id: "teller", input: {} });
  const never = await respond(idle, unknown);
  assert.equal(never.error, "no_such_interrupt");
  const unused = String((await call(server, "POST", "/threads", {})).body["thread_id"]);
  assert.equal((await respond(unused, unknown)).error, "no_such_run");
  const nowhere = await call(server, "POST", `/threads/${randomUUID()}/commands`, {
    id: 1,
    method: "input.respond",
    params: { interrupt_id: unknown, response: 1 },
  });
  assert.deepEqual([nowhere.status, nowhere.body["code"]], [404, "thread_not_found"]);
  for (const method of ["input.inject", "subscription.reconnect", "subscription.unsubscribe"])
    assert.equal((await send(idle, method, {})).error, "not_supported");
});

test(
  "input that names questions is their answer, and refused when it is late (thread-questions.4)",
  PATIENCE,
  async () => {
    const thread = await paused("echo");
    const [id = ""] = thread.ids;
    const start = () => send(thread.threadId, "run.start", { assistant_id: "echo", input: { [id]: "yes" } });
    const [first, second] = await Promise.all([start(), start()]); // two pages
    const [refused, ...more] = [first, second].filter(({ error }) => error !== undefined);
    assert.match(String(refused?.["code"]), /^(thread_busy|interrupt_stale)$/);
    assert.deepEqual(more, []);
    await thread.reader.until(isRunEnd((refused === first ? second : first).result["run_id"]));
    assert.equal((await start())["code"], "interrupt_stale", "on an idle thread too");
    const { body } = await call(server, "GET", `/threads/${thread.threadId}/runs`);
    assert.equal((body as readonly unknown[]).length, 2);
    thread.reader.close();
  },
);

test("a node that asks again makes a new question (thread-questions.5)", PATIENCE, async () => {
  const thread = await paused("loop");
  const seen = [...thread.requests];
  for (const response of ["a", "b"]) {
    const id = seen.at(-1)?.data["interrupt_id"];
    const { requests } = await answered(thread, send(thread.threadId, "input.respond", { interrupt_id: id, response }));
    assert.equal(requests.length, 1);
    seen.push(...requests);
  }
  assert.deepEqual(
    seen.map(({ data }) => data["payload"]),
    [{ round: 0 }, { round: 1 }, { round: 2 }],
  );
  assert.equal(new Set(seen.map(({ data }) => data["interrupt_id"])).size, 3);
  assert.equal(new Set(seen.map(({ id }) => id)).size, 3);
  thread.reader.close();
});

test("an answer whose run never began is void (thread-questions.6)", PATIENCE, async (t) => {
  const small = await startServerHere({ env: { N_JOBS_PER_WORKER: "1" } });
  t.after(async () => {
    await small.stop();
    removeFolder(small.dataDir);
  });
  const to = (threadId: string, method: string, params: object) => sendCommand(small, threadId, method, params);
  const cancel = (threadId: string, runId: unknown) =>
    call(small, "POST", `/threads/${threadId}/runs/${String(runId)}/cancel`);
  const [asking, busy] = [randomUUID(), randomUUID()];
  const reader = await openEvents(small, asking, LIFE);
  await to(asking, "run.start", { assistant_id: "echo", input: { payload: "?" } });
  const asked = (await reader.until(isEnd)).find(isRequest);
  const id = asked?.data["interrupt_id"];

  const blocked = await openEvents(small, busy, LIFE);
  const slow = await to(busy, "run.start", { assistant_id: "slow", input: { waitMs: 600_000 } });
  await blocked.until(isRunning); // the only place for runs is taken
  const { result } = await to(asking, "input.respond", { interrupt_id: id, response: "void" });
  await reader.until(isAnswered);
  await cancel(asking, result["run_id"]);
  const rest = await reader.until(isRunEnd(result["run_id"]));
  const [request] = rest.filter(isRequest);
  assert.equal(request?.data["interrupt_id"], id);
  assert.notEqual(request?.id, asked?.id);
  assert.ok(!rest.some(isRunning));
  const replay = await openEvents(small, asking, LIFE);
  const shown = await replay.until(isRunEnd(result["run_id"]));
  assert.deepEqual(
    shown.filter((event) => isRequest(event) || isAnswered(event)),
    [request],
  );
  const again = await to(asking, "input.respond", { interrupt_id: id, response: "void" });
  const refusing = { assistant_id: "echo", input: {}, on_paused: "reject" };
  const { body: behind } = await call(small, "POST", `/threads/${asking}/runs`, refusing);
  const told = call(small, "GET", `/threads/${asking}/runs/${String(behind["run_id"])}/join`);
  const both = { thread_id: asking, run_ids: [again.result["run_id"], behind["run_id"]] };
  await call(small, "POST", "/runs/cancel", both);
  assert.match((await told).text, /thread_paused/, "it is paused again");
  const stored = await call(small, "GET", `/threads/${asking}/runs/${String(behind["run_id"])}`);
  assert.equal(stored.body["ended_by"], "failure", "once");
  await cancel(busy, slow.result["run_id"]);
  const last = await to(asking, "input.respond", { interrupt_id: id, response: "counts" });
  assert.equal((await reader.until(isRunEnd(last.result["run_id"]))).at(-1)?.data["event"], "completed");
  for (const one of [replay, blocked, reader]) one.close();
});

test("two questions in one batch (thread-questions.7)", PATIENCE, async () => {
  const thread = await paused("nested_parallel");
  const responses = thread.requests.map(({ namespace, data }) => ({
    namespace,
    interrupt_id: data["interrupt_id"],
    response: JSON.stringify(data["payload"]),
  }));
  assert.equal(responses.length, 2);
  const { requests } = await answered(thread, send(thread.threadId, "input.respond", { responses }));
  assert.deepEqual(
    requests.map(({ data }) => data["payload"]),
    [{ question: "deep second" }], // the left graph asks twice
  );
  const { values } = await openThread(server, "nested_parallel", thread.threadId).state();
  assert.equal(values["third"], '{"question":"called"}');
  thread.reader.close();
});

test("all questions of a pause are answered at the same time, one by one (thread-questions.8)", PATIENCE, async () => {
  const thread = await paused("parallel");
  assert.equal(thread.ids.length, 3);
  const replies = await Promise.all(
    thread.ids.map((id, at) => send(thread.threadId, "input.respond", { interrupt_id: id, response: at })),
  );
  assert.deepEqual(
    replies.map(({ type }) => type),
    ["success", "success", "success"],
  );
  const ends = new Set(replies.map(({ result }) => result["run_id"]));
  assert.equal(ends.size, 3);
  await thread.reader.until(({ data, namespace }) => namespace.length === 0 && data["event"] === "completed");
  const { values } = await openThread(server, "parallel", thread.threadId).state();
  assert.equal((values["done"] as readonly unknown[]).length, 4);
  thread.reader.close();
});
