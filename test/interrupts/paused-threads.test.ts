// Tests of what a run does to a thread that waits for a person (docs/concepts/runs-and-pauses.md).
//   paused-threads.1. The table intent × on_paused → effect, over every way that starts runs.
//   paused-threads.2. The choice of a run counts before that of its assistant.
//   paused-threads.3. `answer` is an answer: by the schema, for the one open question, with its audit entry.
//   paused-threads.4. `enqueue` waits until the pause is over, also across a restart.
//   paused-threads.5. New input, an update and a goto keep the results of finished branches, which do not run again. An
//        update and a goto keep the questions, their ids and the answers that were used.
//   paused-threads.6. The stream of a run that waits for a person says so, once, before the events of the run.
//   paused-threads.7. A run that was queued before the pause waits with it; with `reject`, its own or its assistant's, it
//        ends with `thread_paused`, and every reader and caller of it is told.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { Client } from "@langchain/langgraph-sdk";
import { after, test } from "node:test";
import { join } from "node:path";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { connect, data, message, sending } from "../gateways/a2a-client.ts";
import { verb } from "../harness/cli.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { openEvents, sendCommand } from "../harness/thread-protocol.ts";
import {
  followLog,
  newNotes,
  newThread,
  onlyQuestion,
  openThread,
  readProblem,
  type TestThread,
  until,
} from "../harness/threads.ts";

const config = join(ROOT, "test", "graphs", "paused", "langgraph.json");
let server = await startServerHere({ config });
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

async function pausedThread(graph = "strict"): Promise<{ readonly thread: TestThread; readonly id: string }> {
  const thread = await newThread(server, graph);
  return { thread, id: onlyQuestion(await thread.run({ input: {} })).id };
}

interface Started {
  /** Code of a refusal; null for an accepted run. */
  readonly code: string | null;
}

/** Ways that start runs. */
const STARTS: readonly {
  readonly name: string;
  readonly start: (thread: TestThread, body: Readonly<Record<string, unknown>>) => Promise<Started>;
  readonly says: (body: object, onPaused?: string) => boolean;
}[] = [
  {
    name: "POST /threads/{id}/runs",
    says: () => true,
    start: async ({ path }, body) => problemIn(await call(server, "POST", `${path}/runs`, body)),
  },
  {
    name: "POST /threads/{id}/runs/stream",
    says: () => true,
    async start({ path }, body) {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(`${server.url}${path}/runs/stream`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      if (!reply.ok) return problemIn({ status: reply.status, text: await reply.text() });
      await reply.body?.cancel(); // a stream behind a pause has no end
      return { code: null };
    },
  },
  {
    name: "POST /runs",
    says: () => true,
    start: async ({ threadId }, body) =>
      problemIn(await call(server, "POST", "/runs", { ...body, thread_id: threadId })),
  },
  {
    name: "POST /runs/batch",
    says: () => true,
    start: async ({ threadId }, body) =>
      problemIn(await call(server, "POST", "/runs/batch", [{ ...body, thread_id: threadId }])),
  },
  {
    name: "run.start",
    says: (body) => "input" in body,
    async start({ path }, body) {
      const params = { ...body, onPaused: body["on_paused"], on_paused: undefined };
      const { text } = await call(server, "POST", `${path}/commands`, { id: 1, method: "run.start", params });
      return { code: /"code":"(\w+)"/.exec(text)?.[1] ?? null };
    },
  },
  {
    name: "MCP",
    says: (body) => "input" in body && body.input !== null,
    async start({ threadId }, { input, on_paused: onPaused = "abandon" }) {
      const client = new McpClient({ name: "test", version: "2" }, { versionNegotiation: { mode: "auto" } });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
      const leave = new AbortController();
      const meta = { thread_id: threadId, on_paused: onPaused };
      const params = { name: "strict", arguments: input as Record<string, unknown>, _meta: meta };
      const done = client.callTool(params, { signal: leave.signal }).then((result) => JSON.stringify(result));
      return { code: codeAtEnd(await endOrQueued(threadId, done)) };
    },
  },
  {
    name: "A2A",
    says: (body) => "input" in body && body.input !== null,
    async start({ threadId }, { input, on_paused: onPaused = "abandon" }) {
      const client = await connect("strict", "1.0", { url: server.url });
      const request = sending(message([data(input)], { contextId: threadId }));
      const done = client
        .sendMessage({ ...request, metadata: { on_paused: onPaused } })
        .then((result) => JSON.stringify(result), String);
      return { code: codeAtEnd(await endOrQueued(threadId, done)) };
    },
  },
  {
    name: "the command line",
    says: (body) => "input" in body,
    async start({ threadId }, { input, on_paused: onPaused }) {
      const choice = onPaused === undefined ? [] : ["--on-paused", onPaused as string];
      const args = ["run", "strict", "--thread", threadId, "--input", JSON.stringify(input), ...choice];
      const done = verb(args, { env: { HOLDPOINT_URL: server.url } }).then(({ out, err }) => out + err);
      return { code: codeAtEnd(await endOrQueued(threadId, done)) };
    },
  },
  {
    name: "a cron",
    says: (body, onPaused) => "input" in body && onPaused !== "answer", // who-answers.2
    async start({ threadId }, body) {
      const cron = { ...body, schedule: "* * * * * *" };
      const { body: made } = await call(server, "POST", `/threads/${threadId}/runs/crons`, cron);
      const { cron_id: id, next_run_date: due } = made as { readonly cron_id: string; readonly next_run_date: string };
      await followLog(server, "its tick is over", async () => {
        const { body: found } = await call(server, "POST", "/runs/crons/search", { thread_id: threadId });
        const [one] = found as readonly { readonly next_run_date: string }[];
        return one?.next_run_date === due ? undefined : true;
      });
      await call(server, "DELETE", `/runs/crons/${id}`);
      const { body: runs } = await call(server, "GET", `/threads/${threadId}/runs`);
      return { code: (runs as readonly unknown[]).length > 1 ? null : "thread_paused" };
    },
  },
];

/** What the client said at the end of its call; "" if its run is queued, which it waits for. */
function endOrQueued(threadId: string, done: Promise<string>): Promise<string> {
  const queued = until("a run is queued, or the call is over", async () => {
    const { body } = await call(server, "GET", `/threads/${threadId}/runs`);
    const isQueued = (body as readonly { readonly status: string }[]).some(({ status }) => status === "pending");
    return isQueued || isOver ? "" : undefined;
  });
  let isOver = false;
  return Promise.race([done.finally(() => (isOver = true)), queued]);
}

function codeAtEnd(text: string): string | null {
  return /thread_paused|waits for a person/.test(text) ? "thread_paused" : null;
}

function problemIn({ status, text }: { readonly status: number; readonly text: string }): Started {
  return { code: status < 300 ? null : (/"code":"(\w+)"/.exec(text)?.[1] ?? text) };
}

const INPUT = { input: { log: ["new"] } };
const UPDATE = { command: { update: { log: ["edit"] } } };

/** `is` of the question after the start: `null` where the thread has another one. */
const TABLE = [
  { body: INPUT, onPaused: undefined, code: null, is: "abandoned" },
  { body: INPUT, onPaused: "abandon", code: null, is: "abandoned" },
  { body: INPUT, onPaused: "reject", code: "thread_paused", is: "open" },
  { body: INPUT, onPaused: "enqueue", code: null, is: "open" },
  { body: INPUT, onPaused: "answer", code: null, is: "answered" },
  { body: UPDATE, onPaused: undefined, code: null, is: "open" },
  { body: UPDATE, onPaused: "reject", code: "thread_paused", is: "open" },
  { body: UPDATE, onPaused: "enqueue", code: null, is: "open" },
  { body: UPDATE, onPaused: "answer", code: "thread_paused", is: "open" },
  { body: { input: null }, onPaused: "reject", code: null, is: "open" },
] as const;

for (const { name, start, says } of STARTS)
  test(`${name}: input and update on a paused thread (paused-threads.1)`, PATIENCE, async () => {
    for (const { body, onPaused, code, is } of TABLE) {
      if (!says(body, onPaused)) continue;
      const { thread, id } = await pausedThread();
      const given = onPaused === undefined ? {} : { on_paused: onPaused };
      const what = `${JSON.stringify(body)} ${onPaused}`;
      const started = await start(thread, { assistant_id: "strict", ...body, ...given });
      assert.equal(started.code, code, what);
      await followLog(server, "the thread is at rest", async () =>
        (await thread.get()).status === "busy" ? undefined : true,
      );
      const item = await call(server, "GET", `/inbox/${thread.threadId}/${id}`);
      assert.equal((item.body as { readonly state: string }).state, is, what);
      const pending = (await thread.runs()).filter(({ status }) => status === "pending").length;
      assert.equal(pending > 0, onPaused === "enqueue", what);
    }
  });

test("a refusal names what is open, whatever asks for it (paused-threads.1)", PATIENCE, async () => {
  const { thread, id } = await pausedThread();
  const { body } = await call(server, "POST", "/assistants", {
    graph_id: "strict",
    metadata: { on_paused: "abandon" },
  });
  const { assistant_id: careless } = body as { readonly assistant_id: string };
  for (const more of [
    ...["reject", "enqueue", "interrupt", "rollback"].map((one) => ({ on_paused: "reject", multitask_strategy: one })),
    { multitask_strategy: "reject" },
    { multitask_strategy: "reject", assistant_id: careless },
  ]) {
    const refused = await thread.wait({ input: {}, ...more });
    assert.equal(readProblem(refused).code, "thread_paused");
    assert.deepEqual(
      readProblem(refused).pending?.map((one) => one.id),
      [id],
    );
  }
  assert.equal((await thread.wait({ input: {}, on_paused: "ask" })).status, 422);
  const both = { on_paused: "abandon", multitask_strategy: "reject" };
  assert.notEqual(onlyQuestion(await thread.run({ input: {}, ...both })).id, id);
});

test("the assistant's choice holds where the run has none (paused-threads.2)", PATIENCE, async () => {
  const metadata = { on_paused: "reject" };
  const { body } = await call(server, "POST", "/assistants", { graph_id: "strict", metadata });
  const { assistant_id: careful } = body as { readonly assistant_id: string };
  const { thread } = await pausedThread();
  const refused = await thread.wait({ assistant_id: careful, input: {} });
  assert.equal(readProblem(refused).code, "thread_paused");
  const onlyOthers = await thread.wait({ assistant_id: careful, command: { goto: "__end__" } });
  assert.equal(readProblem(onlyOthers).code, "thread_paused");
  onlyQuestion(await thread.run({ assistant_id: careful, input: {}, on_paused: "abandon" }));
  for (const [method, path] of [
    ["POST", "/assistants"],
    ["PATCH", `/assistants/${careful}`],
  ] as const) {
    const typo = await call(server, method, path, { graph_id: "strict", metadata: { on_paused: "Reject" } });
    assert.equal(typo.status, 422, typo.text);
  }
});

test("an input that counts as the answer is one (paused-threads.3)", PATIENCE, async () => {
  const { thread, id } = await pausedThread();
  const done = await thread.run({ input: "good", on_paused: "answer" });
  assert.deepEqual(done["log"], ["good"]);
  const { body } = await call(server, "GET", `${thread.path}/audit`);
  const [entry] = (body as { readonly items: readonly { readonly action: string; readonly interrupt_id: string }[] })
    .items;
  assert.deepEqual([entry?.action, entry?.interrupt_id], ["answered", id]);
  assert.equal(
    (await thread.run({ input: {}, on_paused: "answer" })).__error__,
    undefined,
    "without a pause it is input",
  );
  const several = await newThread(server, "beside");
  await several.run({ input: {} });
  const refused = await several.wait({ input: { log: ["x"] }, on_paused: "answer" });
  assert.deepEqual([refused.status, readProblem(refused).code], [409, "answer_ambiguous"]);
  const held = await newThread(server, "beside");
  await held.run({ input: {}, interrupt_before: ["left"] });
  assert.equal(readProblem(await held.wait({ input: {}, on_paused: "answer" })).code, "thread_paused");
});

test(
  "a run that waits for the pause runs after the answer, also across a restart (paused-threads.4)",
  PATIENCE,
  async () => {
    const { thread, id } = await pausedThread();
    const waits = await thread.begin({ input: { log: ["later"] }, on_paused: "enqueue" });
    assert.equal(waits.status, "pending");
    await server.stop();
    server = await startServerHere({ config, dataDir: server.dataDir });
    const again = openThread(server, "strict", thread.threadId);
    assert.deepEqual(
      (await again.open()).map((one) => one.id),
      [id],
    );
    await again.run({ command: { resume: { [id]: "good" } } });
    await again.join(waits);
    const [open] = await again.open();
    assert.ok(open !== undefined && open.id !== id);
    assert.deepEqual((await again.state()).values["log"], ["good", "later"]);
  },
);

test(
  "a stream that waits for a person says so first, also to the official client (paused-threads.6)",
  PATIENCE,
  async () => {
    const { thread, id } = await pausedThread();
    const { body } = await call(server, "POST", "/assistants", {
      graph_id: "strict",
      metadata: { on_paused: "enqueue" },
    });
    const { assistant_id: patient } = body as { readonly assistant_id: string };
    const client = new Client({ apiUrl: server.url, apiKey: null });
    const input = { log: ["later"] };
    const streams = [client.runs.stream(thread.threadId, patient, { input, streamMode: ["updates", "values"] })];
    const waiting: Event = await nextEvent(streams[0] as AsyncGenerator<Event>);
    assert.equal(waiting.event, "waiting");
    const { run_id: runId, pending, thread_status: status } = waiting.data as Waiting;
    assert.deepEqual([pending, status], [[id], "interrupted"]);
    for (const streamMode of ["updates", "values"] as const)
      streams.push(client.runs.joinStream(thread.threadId, runId, { streamMode }) as (typeof streams)[0]);
    for (const joined of streams.slice(1)) assert.equal((await nextEvent(joined)).event, "waiting");
    await thread.run({ command: { resume: { [id]: "good" } } });
    for (const stream of streams) {
      const names = (await Array.fromAsync(stream)).map(({ event }) => event as string);
      assert.equal(names[0], "metadata", "the run begins");
      assert.equal(names.includes("waiting"), false, "once");
      assert.ok(names.includes("updates") || names.includes("values"));
    }
  },
);

test("a stream that was there before the pause says so as well (paused-threads.6)", PATIENCE, async () => {
  const thread = await newThread(server, "slow");
  const notes = newNotes(folder);
  await thread.begin({ input: { notes: notes.notes } });
  const client = new Client({ apiUrl: server.url, apiKey: null });
  const stream = client.runs.stream(thread.threadId, "slow", { input: {} });
  const first = nextEvent(stream);
  await until("it is queued", async () => ((await thread.runs()).length === 2 ? true : undefined));
  writeFileSync(notes.notes, "");
  assert.equal((await first).event, "waiting");
  await stream.return(undefined);
});

test(
  "a queued run that rejects a pause ends when its thread pauses, others wait (paused-threads.7)",
  PATIENCE,
  async () => {
    const rejecting = { graph_id: "slow", metadata: { on_paused: "reject" } };
    const { assistant_id: careful } = (await call(server, "POST", "/assistants", rejecting)).body as WireAssistant;
    const thread = await newThread(server, "slow");
    const notes = newNotes(folder);
    await thread.begin({ input: { notes: notes.notes } });
    const update = { command: { update: { log: ["x"] } } };
    const ends = [
      { input: {}, on_paused: "reject" },
      { input: {}, assistant_id: careful },
      { ...update, on_paused: "reject" },
      { command: { goto: "__end__" }, assistant_id: careful },
    ];
    const waits = [
      { input: {} },
      { input: {}, on_paused: "enqueue" },
      { input: {}, on_paused: "abandon", assistant_id: careful },
      { input: null, on_paused: "reject" },
      { input: {}, on_paused: "reject", after_seconds: 3600 },
    ];
    const ending = await Promise.all(ends.map((body) => thread.begin(body)));
    const waiting = await Promise.all(waits.map((body) => thread.begin(body)));
    const client = new Client({ apiUrl: server.url, apiKey: null });
    const stream = client.runs.stream(thread.threadId, careful, { input: {} }) as AsyncGenerator<Event>;
    const streamed = Array.fromAsync(stream);
    const waited = thread.run({ input: {}, on_paused: "reject" });
    const page = await openEvents(server, thread.threadId, { channels: ["lifecycle"] });
    const params = { assistant_id: "slow", input: {}, onPaused: "reject" };
    const started = await sendCommand(server, thread.threadId, "run.start", params);
    const joined = ending.map((run) => thread.join(run));
    await until("all are queued", async () =>
      (await thread.runs()).length === 1 + ends.length + waits.length + 3 ? true : undefined,
    );
    writeFileSync(notes.notes, "");
    for (const result of await Promise.all([waited, ...joined])) {
      assert.equal(result.__error__?.error, "thread_paused");
      assert.match(result.__error__.message, /Answer the question.*thread of its own/);
    }
    const events = (await streamed).map(({ event, data }) => [event, (data as { readonly error?: string }).error]);
    assert.deepEqual(events, [
      ["metadata", undefined],
      ["error", "thread_paused"],
    ]);
    const last = (await page.until(({ id }) => id.includes(String(started.result["run_id"])))).at(-1);
    page.close();
    assert.equal(last?.data["event"], "failed");
    assert.match(String(last.data["error"]), /^thread_paused: /);
    const runs = new Map((await thread.runs()).map((run) => [run.run_id, run]));
    const read = (all: readonly { readonly run_id: string }[]): readonly unknown[] =>
      all.map(({ run_id: id }) => [runs.get(id)?.status, runs.get(id)?.ended_by]);
    assert.deepEqual(
      read(ending),
      ends.map(() => ["error", "failure"]),
    );
    assert.deepEqual(
      read(waiting),
      waits.map(() => ["pending", null]),
    );
    assert.equal((await thread.open()).length, 1, "its question is open");
  },
);

test("the stream of a queued run that is cancelled ends with its error (paused-threads.7)", PATIENCE, async () => {
  const thread = await newThread(server, "slow");
  const notes = newNotes(folder);
  await thread.begin({ input: { notes: notes.notes } });
  const { run_id: id } = await thread.begin({ input: {} });
  const client = new Client({ apiUrl: server.url, apiKey: null });
  const stream = client.runs.joinStream(thread.threadId, id, { streamMode: "values" }) as AsyncGenerator<Event>;
  const first = nextEvent(stream);
  writeFileSync(notes.notes, "");
  assert.equal((await first).event, "waiting");
  await client.runs.cancel(thread.threadId, id);
  assert.deepEqual(
    (await Array.fromAsync(stream)).map(({ event }) => event),
    ["metadata", "error"],
  );
});

interface WireAssistant {
  readonly assistant_id: string;
}

interface Event {
  readonly event: string;
  readonly data: unknown;
}

interface Waiting {
  readonly run_id: string;
  readonly pending: readonly string[];
  readonly thread_status: string;
}

async function nextEvent<T>(stream: AsyncGenerator<T>): Promise<T> {
  const { value, done } = await stream.next();
  assert.ok(done !== true, "the stream has ended");
  return value;
}

for (const [name, body, log] of [
  ["new input", { input: { log: ["new"] } }, ["new", "plain"]],
  ["an update", { command: { update: { log: ["edit"] } } }, ["edit", "plain"]],
  ["a goto", { command: { goto: "after" } }, ["after", "plain"]],
] as const)
  test(`${name} keeps the results of finished branches (paused-threads.5)`, PATIENCE, async () => {
    const thread = await newThread(server, "beside");
    const notes = newNotes(folder);
    await thread.run({ input: { notes: notes.notes } });
    const before = await thread.open();
    await thread.run(body);
    const { values } = await thread.get();
    const shown = [...((values?.["log"] ?? []) as readonly string[])].toSorted();
    // new input begins the step anew: its own branches run beside what is kept
    assert.deepEqual(shown, name === "new input" ? ["new", "plain", "plain"] : [...log].toSorted());
    assert.equal(notes.count("plain"), name === "new input" ? 2 : 1);
    const ids = (await thread.open()).map(({ id }) => id);
    assert.equal(ids.length, 2);
    if (name !== "new input")
      assert.deepEqual(
        ids,
        before.map(({ id }) => id),
      );
  });

test("an update keeps answers that were used; a later one adds to it (paused-threads.5)", PATIENCE, async () => {
  const thread = await newThread(server, "twice");
  const notes = newNotes(folder);
  await thread.run({ input: { notes: notes.notes } });
  const [second] = (await thread.resume("one")).__interrupt__ ?? [];
  for (const edit of ["first edit", "second edit"]) await thread.run({ command: { update: { log: [edit] } } });
  assert.deepEqual(
    (await thread.open()).map(({ id }) => id),
    [second?.id],
  );
  assert.deepEqual((await thread.state()).values["log"], ["first edit", "second edit", "plain"]);
  const { log } = await thread.resume({ [second?.id ?? ""]: "two" });
  assert.deepEqual(log, ["first edit", "second edit", "one, two", "plain"]);
  assert.equal(notes.count("ask"), 1);
  assert.equal(notes.count("plain"), 1);
});

test("an update on a pause inside a subgraph runs nothing of it twice (paused-threads.5)", PATIENCE, async () => {
  const thread = await newThread(server, "below");
  const notes = newNotes(folder);
  await thread.run({ input: { notes: notes.notes } });
  const before = (await thread.open()).map(({ id }) => id);
  await thread.run({ command: { update: { sum: 5 } } });
  assert.deepEqual(
    (await thread.open()).map(({ id }) => id),
    before,
  );
  assert.equal((await thread.get()).values?.["sum"], 5);
  assert.equal(notes.count("plain"), 1);
});
