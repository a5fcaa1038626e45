// Tests of the thread protocol over HTTP: commands and server-sent events, on real sockets.
//   thread-protocol.1. A run shows in the order of the reference: running, states, tasks, messages, end; the same on every replay.
//   thread-protocol.2. Ids and seqs are unique, ordered, and the same after a restart; new ones are above all old ones.
//   thread-protocol.3. Every reader sees a question open and close, one answer counts, and the same answer again
//   succeeds. The namespace of a question is that of its graph.
//   thread-protocol.4. New input abandons a question; a map of open ids answers it. If the server is set so, any input
//   answers the only open question, but never one of several.
//   thread-protocol.5. A replay omits ends of older runs and requests of closed questions; `since` returns all later events.
//   thread-protocol.6. REST runs appear too, and the stream of a REST run has no event of the protocol.
//   thread-protocol.7. Refusals are envelopes with the codes of the protocol and of the product, and create nothing.
//   thread-protocol.8. A run that ends without having begun, by a cancellation in the queue, has one end.
//   thread-protocol.9. Without stored events, a reader gets the state, the open questions and the newest end; one with a
//     position is told that it missed events.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { Client } from "pg";
import { WebSocket } from "ws";
import { readEvents } from "../harness/events.ts";
import { openEvents, sendCommand, type ProtocolEvent } from "../harness/thread-protocol.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, databaseFor, removeFolder } from "../harness/server.ts";
import { PATIENCE } from "../harness/patience.ts";

const ALL = {
  channels: ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"],
};

let server: ServerHere = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const isEnd = ({ method, namespace, data }: ProtocolEvent): boolean =>
  method === "lifecycle" && namespace.length === 0 && data["event"] !== "running";

const start = (threadId: string, assistant: string, input: unknown, more: object = {}) =>
  sendCommand(server, threadId, "run.start", { assistant_id: assistant, input, ...more });

const shape = ({ method, namespace, data }: ProtocolEvent): string => {
  const where = namespace.map((part) => part.split(":")[0]).join("/");
  const what = ["lifecycle", "messages", "tools"].includes(method) ? ` ${String(data["event"])}` : "";
  return `${method}${where === "" ? "" : `@${where}`}${what}`;
};

test("a run with a model shows in order, live and in a replay (thread-protocol.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const live = await openEvents(server, threadId, ALL);
  const { result, meta } = await start(threadId, "teller", {});
  const seen = await live.until(isEnd);
  assert.deepEqual(seen.map(shape), [
    "lifecycle running",
    "tasks",
    "custom",
    "custom",
    "updates",
    "tasks",
    "tasks",
    "lifecycle@speaks started",
    "messages@speaks message-start",
    "messages@speaks content-block-start",
    ...Array.from({ length: 3 }, () => "messages@speaks content-block-delta"),
    "messages@speaks content-block-finish",
    "messages@speaks message-finish",
    "updates",
    "tasks",
    "lifecycle@speaks completed",
    "checkpoints",
    "values",
    "tasks",
    "lifecycle@inner started",
    "checkpoints@inner",
    "values@inner",
    "tasks@inner",
    "custom@inner",
    "updates@inner",
    "tasks@inner",
    "checkpoints@inner",
    "values@inner",
    "updates",
    "tasks",
    "lifecycle@inner completed",
    "checkpoints",
    "values",
    "lifecycle completed",
  ]);
  assert.ok(meta.applied_through_seq >= 1 && meta.applied_through_seq < (seen[0]?.seq ?? 0));
  assert.match(seen[0]?.id ?? "", new RegExp(`^synth:${String(result["run_id"])}:running:1$`));
  const deltas = seen.filter(({ data }) => data["event"] === "content-block-delta");
  assert.equal(deltas.map(({ data }) => (data["delta"] as { readonly text: string }).text).join(""), "Hi!");
  const state = (await call(server, "GET", `/threads/${threadId}/state`)).body as { readonly values: object };
  assert.deepEqual(
    seen.findLast(({ method, namespace }) => method === "values" && namespace.length === 0)?.data,
    state.values,
  );

  const replay = await openEvents(server, threadId, ALL);
  assert.deepEqual(await replay.until(isEnd), seen);
  live.close();
  replay.close();
});

test("ids and seqs hold over a restart, and later ones are above them (thread-protocol.2)", PATIENCE, async () => {
  const threadId = randomUUID();
  await start(threadId, "teller", {});
  const first = await openEvents(server, threadId, ALL);
  const before = await first.until(isEnd);
  first.close();
  const { dataDir } = server;
  await server.stop();
  server = await startServerHere({ dataDir });
  const second = await openEvents(server, threadId, ALL);
  assert.deepEqual(await second.until(isEnd), before);
  await start(threadId, "teller", {});
  const later = await second.until(isEnd);
  const all = [...before, ...later];
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
  assert.deepEqual(
    all.map(({ seq }) => seq),
    all.map(({ seq }) => seq).toSorted((one, other) => one - other),
  );
  assert.equal(new Set(all.map(({ seq }) => seq)).size, all.length);
  second.close();
});

test("a question is answered once, and every reader hears of it (thread-protocol.3)", PATIENCE, async () => {
  const threadId = randomUUID();
  const reader = await openEvents(server, threadId, { channels: ["lifecycle", "input"] });
  await start(threadId, "echo", { payload: { question: "sure?" } });
  const asked = await reader.until(isEnd);
  assert.deepEqual(asked.map(shape), ["lifecycle running", "input.requested", "lifecycle interrupted"]);
  const { interrupt_id: id, payload } = asked[1]?.data ?? {};
  assert.deepEqual(payload, { question: "sure?" });

  const respond = (response: unknown) =>
    sendCommand(server, threadId, "input.respond", { namespace: [], interrupt_id: id, response });
  const replies = await Promise.all(Array.from({ length: 5 }, () => respond(false)));
  const runs = new Set(replies.map(({ result }) => result?.["run_id"]));
  assert.equal(runs.size, 1, JSON.stringify(replies));
  const rest = await reader.until(isEnd);
  assert.deepEqual(rest.map(shape), ["input.answered", "lifecycle running", "lifecycle completed"]);
  assert.deepEqual(rest[0]?.data, { interrupt_ids: [id], how: "answered" });
  assert.ok((replies[0]?.meta.applied_through_seq ?? 0) < (rest[0]?.seq ?? 0));

  const other = await respond("another");
  assert.equal(other.error, "no_such_interrupt");
  assert.equal(other["code"], "interrupt_stale");
  assert.equal((other["answered"] as { readonly same_value: boolean }).same_value, false);
  const state = (await call(server, "GET", `/threads/${threadId}/state`)).body as { readonly values: object };
  assert.deepEqual(state.values, { payload: { question: "sure?" }, answer: [false] });
  reader.close();
});

test("text abandons a question, a map of open ids answers both (thread-protocol.4)", PATIENCE, async () => {
  const threadId = randomUUID();
  const reader = await openEvents(server, threadId, { channels: ["lifecycle", "input"] });
  await start(threadId, "parallel", {});
  const asked = (await reader.until(isEnd)).filter(({ method }) => method === "input.requested");
  await start(threadId, "parallel", { notes: "" });
  const again = await reader.until(isEnd);
  assert.deepEqual(again[0]?.data, { interrupt_ids: asked.map(({ data }) => data["interrupt_id"]), how: "abandoned" });
  const open = again
    .filter(({ method }) => method === "input.requested")
    .map(({ data }) => String(data["interrupt_id"]));
  assert.ok(open.length >= 2);
  const [one = "", ...others] = open;
  await start(threadId, "parallel", { [one]: "first" });
  const partial = await reader.until(isEnd);
  assert.deepEqual(partial[0]?.data, { interrupt_ids: [one], how: "answered" });
  assert.equal(partial.at(-1)?.data["event"], "interrupted");
  assert.deepEqual(
    partial.filter(({ method }) => method === "input.requested").map(({ data }) => data["interrupt_id"]),
    others,
  );
  const responses = others.map((id) => ({ namespace: [], interrupt_id: id, response: id }));
  const bad = [...responses, { namespace: [], interrupt_id: "0".repeat(32), response: 1 }];
  assert.equal((await sendCommand(server, threadId, "input.respond", { responses: bad })).error, "no_such_interrupt");
  await sendCommand(server, threadId, "input.respond", { responses });
  assert.equal((await reader.until(isEnd)).at(-1)?.data["event"], "completed");
  reader.close();
});

test("any input is the answer where the assistant says so (thread-protocol.4)", PATIENCE, async () => {
  const made = async (graph_id: string): Promise<string> => {
    const body = { graph_id, metadata: { on_paused: "answer" } };
    return String((await call(server, "POST", "/assistants", body)).body["assistant_id"]);
  };
  const [series, parallel] = [await made("series"), await made("parallel")];
  const begin = (threadId: string, assistant: string, input: unknown) =>
    sendCommand(server, threadId, "run.start", { assistant_id: assistant, input });
  const [one, several] = [randomUUID(), randomUUID()];
  const reader = await openEvents(server, one, { channels: ["lifecycle", "input"] });
  await begin(one, series, {});
  await reader.until(isEnd);
  for (const input of ["text", { any: "object" }]) {
    await begin(one, series, input);
    assert.equal((await reader.until(isEnd))[0]?.data["how"], "answered");
  }
  reader.close();

  const readerOfSeveral = await openEvents(server, several, { channels: ["lifecycle", "input"] });
  await begin(several, parallel, {});
  await readerOfSeveral.until(isEnd);
  assert.equal((await begin(several, parallel, { notes: "" })).type, "error", "it names none of the two");
  readerOfSeveral.close();
});

test(
  "a replay has the newest run's end and open questions only; since returns later events (thread-protocol.5)",
  PATIENCE,
  async () => {
    const threadId = randomUUID();
    const live = await openEvents(server, threadId, { channels: ["lifecycle", "input"] });
    await start(threadId, "echo", { payload: 1 });
    const first = await live.until(isEnd);
    await start(threadId, "echo", { payload: 2 });
    const second = await live.until(isEnd);
    const replay = await openEvents(server, threadId, { channels: ["lifecycle", "input"] });
    assert.deepEqual(
      (await replay.until(isEnd)).map(({ id }) => id),
      second.map(({ id }) => id),
    );
    const since = await openEvents(server, threadId, { channels: ["lifecycle", "input"], since: second[1]?.seq });
    assert.deepEqual(
      (await since.until(isEnd)).map(({ id }) => id),
      second.slice(2).map(({ id }) => id),
    );
    const tape = await openEvents(server, threadId, { channels: ["lifecycle", "input"], since: 0 });
    assert.deepEqual([...(await tape.until(isEnd)), ...(await tape.until(isEnd))], [...first, ...second]);
    for (const one of [live, replay, since, tape]) one.close();
  },
);

test("a REST run appears in the protocol and keeps its own stream (thread-protocol.6)", PATIENCE, async () => {
  const { thread_id: threadId } = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
  const reader = await openEvents(server, threadId, ALL);
  const body = { assistant_id: "echo", input: { payload: 7 }, stream_mode: ["values", "updates"] };
  const rest = await (await readEvents(server, `/threads/${threadId}/runs/stream`, { body })).rest();
  assert.deepEqual([...new Set(rest.map(({ event }) => event))], ["metadata", "values", "updates"]);
  const seen = await reader.until(isEnd);
  assert.deepEqual(seen.map(shape), [
    "lifecycle running",
    "checkpoints",
    "values",
    "input.requested",
    "lifecycle interrupted",
  ]);
  await sendCommand(server, threadId, "input.respond", { interrupt_id: seen[3]?.data["interrupt_id"], response: 8 });
  await reader.until(isEnd);
  const [run] = (await call(server, "GET", `/threads/${threadId}/runs`)).body as readonly { readonly run_id: string }[];
  const joined = await (await readEvents(server, `/threads/${threadId}/runs/${run?.run_id}/stream`)).rest();
  assert.deepEqual([...new Set(joined.map(({ event }) => event))], ["metadata", "values", "tasks", "updates"]);
  reader.close();
});

test("refusals are envelopes, and nothing is made (thread-protocol.7)", PATIENCE, async () => {
  const threadId = randomUUID();
  assert.equal((await start(threadId, "nonesuch", {})).error, "invalid_argument");
  assert.equal((await call(server, "GET", `/threads/${threadId}`)).status, 404);
  assert.equal((await sendCommand(server, threadId, "nonesuch", {})).error, "unknown_command");
  assert.equal((await sendCommand(server, threadId, "subscription.subscribe", {})).error, "not_supported");
  const both = await start(threadId, "echo", {}, { multitaskStrategy: "reject", multitask_strategy: "enqueue" });
  assert.equal(both.error, "invalid_argument");
  assert.equal((await start(threadId, "echo", {}, { multitaskStrategy: "queue" })).error, "invalid_argument");
  await start(threadId, "echo", {});
  const fork = { config: { configurable: { thread_id: threadId, checkpoint_id: randomUUID() } } };
  assert.equal((await start(threadId, "echo", {}, fork)).error, "no_such_checkpoint");
  const path = `/threads/${threadId}/stream/events`;
  assert.equal((await call(server, "POST", path, { channels: [] })).status, 422);
  const deep = Array.from({ length: 33 }, () => "a");
  for (const namespaces of [Array.from({ length: 65 }, () => []), [deep], [["a".repeat(1025)]]])
    assert.equal((await call(server, "POST", path, { channels: ["values"], namespaces })).status, 422);
  assert.equal((await call(server, "GET", path)).status, 426);
});

test("a run cancelled in the queue has one end and no begin (thread-protocol.8)", PATIENCE, async () => {
  const threadId = randomUUID();
  const reader = await openEvents(server, threadId, { channels: ["lifecycle"] });
  const { result: slow } = await start(threadId, "slow", { waitMs: 60_000 });
  const { result } = await start(threadId, "echo", {});
  await call(server, "POST", `/threads/${threadId}/runs/${String(result["run_id"])}/cancel`);
  const [begun, ended] = await reader.until(isEnd);
  assert.equal(begun?.data["run_id"], slow["run_id"]);
  assert.deepEqual([ended?.data["run_id"], ended?.data["ended_by"]], [result["run_id"], "cancel"]);
  await start(threadId, "echo", {}, { multitaskStrategy: "interrupt" });
  const [gone, next] = await reader.until(({ data }) => data["event"] === "running");
  assert.deepEqual([gone?.data["run_id"], gone?.data["event"]], [slow["run_id"], "interrupted"]);
  assert.equal(next?.data["event"], "running");
  reader.close();
});

test("without kept events a reader gets a baseline with the same ids (thread-protocol.9)", PATIENCE, async () => {
  const threadId = randomUUID();
  const live = await openEvents(server, threadId, ALL);
  await start(threadId, "echo", { payload: 5 });
  const seen = await live.until(isEnd);
  live.close();
  const { dataDir } = server;
  await server.stop();
  await deleteEvents(dataDir);
  server = await startServerHere({ dataDir });
  const late = await openEvents(server, threadId, ALL);
  const replayed = await late.until(isEnd);
  const since = seen[0]?.seq ?? 0;
  const { text, socketReply } = await missed(threadId, since);
  assert.match(text, /\n: missed\nid: /);
  assert.equal(socketReply["missed_events"], 4);
  assert.deepEqual(replayed.map(shape), ["checkpoints", "values", "input.requested", "lifecycle interrupted"]);
  assert.deepEqual(
    replayed.slice(2).map(({ id }) => id),
    seen.slice(-2).map(({ id }) => id),
  );
  assert.deepEqual(replayed[1]?.data, { payload: 5 });
  await sendCommand(server, threadId, "input.respond", {
    interrupt_id: replayed[2]?.data["interrupt_id"],
    response: 1,
  });
  const rest = await late.until(isEnd);
  assert.ok((rest[0]?.seq ?? 0) > (replayed.at(-1)?.seq ?? 0) && (replayed[0]?.seq ?? 0) > 1);
  late.close();
});

/** What a reader gets whose position is before what is kept: over server-sent events, and the reply of a socket. */
async function missed(threadId: string, since: number) {
  const path = `/threads/${threadId}/stream/events`;
  const stream = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...ALL, since }),
  });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("event: lifecycle")) text += (await reader?.read())?.value ?? assert.fail(text);
  await reader?.cancel();
  const socket = new WebSocket(`${server.url.replace("http", "ws")}${path}`);
  await once(socket, "open");
  const reply = once(socket, "message");
  socket.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params: { ...ALL, since } }));
  const [data] = (await reply) as [Buffer];
  socket.close();
  const { result } = JSON.parse(data.toString()) as { readonly result: Readonly<Record<string, unknown>> };
  return { text, socketReply: result };
}

/** As after the retention of the events. */
async function deleteEvents(dataDir: string): Promise<void> {
  const uri = await databaseFor(dataDir);
  if (uri === "") {
    const db = new DatabaseSync(join(dataDir, "holdpoint.db"));
    db.exec("DELETE FROM events");
    db.close();
    return;
  }
  const client = new Client({ connectionString: uri });
  await client.connect();
  await client.query("DELETE FROM holdpoint.events");
  await client.end();
}
