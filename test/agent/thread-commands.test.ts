// Tests of commands of the thread protocol, one property each.
//   thread-commands.1. The same Idempotency-Key gives one run and the same reply.
//   thread-commands.2. A run starts from a checkpoint, by run.start and by state.fork; an unknown one makes no run.
//   thread-commands.3. Runs of two assistants on one thread.
//   thread-commands.4. `reject` on a busy thread makes nothing; a rollback ends the run once, then the new one begins.
//   thread-commands.5. Any JSON value is an answer as it is; malformed answers are refused.
//   thread-commands.6. Unknown members of a filter are ignored.
//   thread-commands.7. Answers by question belong to the assistant that asked, whoever starts the run.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { isEnd, isRunEnd, isRunning } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { type EventReader, openEvents, type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const LIFE = { channels: ["lifecycle", "input"] };
const send = (threadId: string, method: string, params: object) => sendCommand(server, threadId, method, params);
const start = (threadId: string, assistant: string, input: unknown, more: object = {}) =>
  send(threadId, "run.start", { assistant_id: assistant, input, ...more });
const runs = async (threadId: string): Promise<number> =>
  ((await call(server, "GET", `/threads/${threadId}/runs`)).body as readonly unknown[]).length;
const isRequest = ({ method }: ProtocolEvent): boolean => method === "input.requested";

async function paused(payload: unknown): Promise<{ threadId: string; reader: EventReader; id: unknown }> {
  const threadId = randomUUID();
  const reader = await openEvents(server, threadId, LIFE);
  await start(threadId, "echo", { payload });
  const events = await reader.until(isEnd);
  return { threadId, reader, id: events.find(isRequest)?.data["interrupt_id"] };
}

test("one run for one key (thread-commands.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const body = { id: 1, method: "run.start", params: { assistant_id: "echo", input: { payload: 1 } } };
  const path = `/threads/${threadId}/commands`;
  const again = () => call(server, "POST", path, body, { "idempotency-key": "one" });
  const [first, second] = [await again(), await again()];
  assert.deepEqual([second.status, second.body["result"]], [200, first.body["result"]]);
  const runId = (first.body["result"] as { readonly run_id: string }).run_id;
  assert.equal(first.headers.get("content-location"), `/threads/${threadId}/runs/${runId}`);
  assert.equal(await runs(threadId), 1);
});

test("a run from a checkpoint (thread-commands.2)", PATIENCE, async () => {
  const { threadId, reader } = await paused("first");
  const listed = (await send(threadId, "state.listCheckpoints", {})).result["checkpoints"] as readonly {
    readonly id: string;
  }[];
  const id = listed.at(-1)?.id;
  const fork = await send(threadId, "state.fork", { checkpoint_id: id, input: { payload: "second" } });
  assert.equal(fork.result["thread_id"], threadId);
  const events = await reader.until(isRunEnd(fork.result["run_id"]));
  assert.equal(events.find(isRequest)?.data["payload"], "second");
  const config = { configurable: { checkpoint_id: id } };
  const third = await start(threadId, "echo", { payload: "third" }, { config });
  const later = await reader.until(isRunEnd(third.result["run_id"]));
  assert.equal(later.find(isRequest)?.data["payload"], "third");
  const before = await runs(threadId);
  const unknown = await send(threadId, "state.fork", { checkpoint_id: randomUUID() });
  assert.equal(unknown.error, "no_such_checkpoint");
  assert.equal(await runs(threadId), before);
  reader.close();
});

test("two assistants on one thread (thread-commands.3)", PATIENCE, async () => {
  const { threadId, reader } = await paused(1);
  const { result } = await start(threadId, "teller", {});
  const events = await reader.until(isRunEnd(result["run_id"]));
  assert.equal(events.at(-1)?.data["event"], "completed");
  reader.close();
});

test("reject and rollback (thread-commands.4)", PATIENCE, async () => {
  const threadId = randomUUID();
  const reader = await openEvents(server, threadId, LIFE);
  const slow = await start(threadId, "slow", { waitMs: 60_000 });
  await reader.until(isRunning);
  const refused = await start(threadId, "echo", {}, { multitask_strategy: "reject" });
  assert.deepEqual([refused.error, refused["code"]], ["invalid_argument", "thread_busy"]);
  assert.equal(await runs(threadId), 1);
  const next = await start(threadId, "echo", {}, { multitaskStrategy: "rollback" });
  const events = await reader.until(isRunEnd(next.result["run_id"]));
  const roots = events.filter((event) => isEnd(event) || isRunning(event));
  assert.deepEqual(
    roots.map(({ data }) => [data["run_id"], data["event"], data["ended_by"]]),
    [
      [slow.result["run_id"], "interrupted", "rollback"],
      [next.result["run_id"], "running", undefined],
      [next.result["run_id"], "interrupted", "pause"],
    ],
  );
  reader.close();
});

for (const value of [false, 0, "", null, [], {}]) {
  test(`${JSON.stringify(value)} as an answer (thread-commands.5)`, PATIENCE, async () => {
    const { threadId, reader, id } = await paused("?");
    const { result } = await send(threadId, "input.respond", { interrupt_id: id, response: value });
    await reader.until(isRunEnd(result["run_id"]));
    const { result: state } = await send(threadId, "state.get", { keys: ["answer"] });
    assert.deepEqual(state["values"], { answer: [value] });
    reader.close();
  });
}

test("malformed answers (thread-commands.5)", PATIENCE, async () => {
  const { threadId, reader, id } = await paused("?");
  const twice = [1, 2].map((response) => ({ interrupt_id: id, response }));
  for (const params of [{}, { responses: [] }, { responses: twice }]) {
    assert.equal((await send(threadId, "input.respond", params)).error, "invalid_argument");
  }
  assert.equal(await runs(threadId), 1);
  reader.close();
});

test("unknown members of a filter (thread-commands.6)", PATIENCE, async () => {
  const { threadId, reader } = await paused("?");
  const other = await openEvents(server, threadId, { ...LIFE, nonesuch: 1, channels: ["nonesuch", ...LIFE.channels] });
  await other.until(isEnd);
  for (const one of [reader, other]) one.close();
});

test("a map of answers from the page of another assistant (thread-commands.7)", PATIENCE, async () => {
  const { threadId, reader, id } = await paused("?");
  const { result } = await start(threadId, "teller", { [String(id)]: "yes" });
  const events = await reader.until(isRunEnd(result["run_id"]));
  assert.deepEqual([events[0]?.data["how"], events.at(-1)?.data["event"]], ["answered", "completed"]);
  const { result: state } = await send(threadId, "state.get", { keys: ["answer"] });
  assert.deepEqual(state["values"], { answer: ["yes"] });
  reader.close();
});
