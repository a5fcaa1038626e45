// Tests of moving a server: backup of a running one, export and import of a stopped one.
// Rules:
//   move.1. A backup shows one moment, taken while runs are in progress, and a server starts on it.
//   move.2. After a move everything is unchanged: threads, states, interrupts with their ids, answers.
//   move.3. Paused threads continue after their answers: interrupts, parallel ones and nested ones, breakpoints.
//   move.4. A move replaces nothing, and leaves a folder in use untouched.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { createArrivals } from "../harness/arrivals.ts";
import { holdpoint } from "../harness/cli.ts";
import { inboxPage, readItems } from "../harness/inbox.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { newThread, openThread, until } from "../harness/threads.ts";

const folder = temporaryFolder();
after(() => removeFolder(folder));

/** Few graphs, for a fast start. */
const graphs = [
  "questions.ts:echo",
  "questions.ts:parallel",
  "questions.ts:loop",
  "nested.ts:deep",
  "failures.ts:hanging",
];
const config = join(folder, "langgraph.json");
const served = graphs.map((path) => [path.split(":")[1], relative(folder, join(ROOT, "test", "graphs", path))]);
const steps = relative(folder, join(ROOT, "examples", "steps", "graph.ts:graph"));
writeFileSync(config, JSON.stringify({ graphs: Object.fromEntries([...served, ["steps", steps]]) }));

/** A server on the restored data as well. */
const FULL = process.env["HOLDPOINT_FAULTS"] === "full";

/** A named folder takes precedence over a database, under each of the setting's names. */
const ELSEWHERE = { DATABASE_URL: "postgres://127.0.0.1:1/elsewhere" };
const move = (verb: string, file: string, dataDir: string) =>
  holdpoint([verb, join(folder, file), "--data-dir", dataDir, "--json"], { env: ELSEWHERE });
const moveIn = (verb: string, file: string, uri: string) =>
  holdpoint([verb, join(folder, file), "--json"], { env: { DATABASE_URI: uri } });

/** Everything clients can see of the threads, except time-dependent values. */
async function seen(server: ServerHere): Promise<unknown> {
  const { body: found } = await call(server, "POST", "/threads/search", { limit: 1000, sort_by: "thread_id" });
  const threads = found as readonly { readonly thread_id: string }[];
  const each = await Promise.all(
    threads.map(async ({ thread_id: id }) => {
      const parts = ["state?subgraphs=true", "history?limit=100", "runs?limit=100", "audit?limit=100"];
      return Promise.all(
        parts.map(async (part) => (await call(server, "GET", `/threads/${id}/${part}`)).body as unknown),
      );
    }),
  );
  const items = (await inboxPage(server, { limit: "1000" })).items;
  const store = (await call(server, "POST", "/store/items/search", { namespace_prefix: [] })).body as unknown;
  const crons = (await call(server, "POST", "/runs/crons/search", {})).body as unknown;
  const assistants = (await call(server, "POST", "/assistants/search", { limit: 100, sort_by: "assistant_id" }))
    .body as unknown;
  return { threads, each, items, store, crons, assistants };
}

/** The lines of a dump, but for the acts and what counts them: an export and an import are acts themselves. */
function readWithoutActs(path: string): string {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => !/"acts-[0-9a-f]"|^\["audit_heads"|^\{"rows"/.test(line)).join("\n");
}

test("a stopped server's threads go on in PostgreSQL, and back in SQLite, as if nothing had happened (move.2, move.3)", async () => {
  const first = await startServerHere({ config });
  const kinds = [
    ["echo", { payload: { question: "Well? \u2028" } }],
    ["parallel", {}],
    ["deep", {}],
    ["loop", {}],
  ] as const;
  const paused: string[] = [];
  for (const [graph, input] of kinds) {
    const thread = await newThread(first, graph, { metadata: { tenant: "acme" } });
    await thread.run({ input });
    paused.push(thread.threadId);
  }
  const broken = await newThread(first, "steps");
  await broken.run({ input: {}, interrupt_before: "*" });
  const done = await newThread(first, "echo");
  await done.run({ input: { payload: "big ".repeat(5000) } });
  await done.resume("yes");
  await call(first, "PUT", "/store/items", { namespace: ["a", "b"], key: "k", value: { n: [1.5, null] } });
  await call(first, "POST", "/assistants", { graph_id: "echo", name: "Mine", metadata: { a: 1 } });
  await call(first, "POST", `/threads/${done.threadId}/runs/crons`, {
    assistant_id: "echo",
    schedule: "0 0 1 1 *",
    timezone: "Europe/Berlin",
  });
  const before = await seen(first);
  const refused = await move("export", "all.dump", first.dataDir);
  assert.match(refused.err, /is in use by process \d+/); // move.4
  await first.stop();

  const exported = await move("export", "all.dump", first.dataDir);
  assert.equal(exported.code, 0, exported.err);
  assert.equal(statSync(join(folder, "all.dump")).mode & 0o777, 0o600);
  const again = await move("export", "all.dump", first.dataDir);
  assert.deepEqual([again.code, /exists already/.test(again.err)], [1, true]); // move.4

  const uri = await newDatabase();
  for (const outcome of [await moveIn("import", "all.dump", uri), await moveIn("export", "back.dump", uri)])
    assert.equal(outcome.code, 0, outcome.err);

  const [there, back] = ["all.dump", "back.dump"].map((file) => readWithoutActs(join(folder, file)));
  assert.ok(back === there, "the dumps differ"); // through PostgreSQL, and nothing is different

  const dataDir = join(folder, "second");
  const imported = await move("import", "back.dump", dataDir);
  assert.equal(imported.code, 0, imported.err);
  const { rows } = JSON.parse(imported.out) as { readonly rows: Readonly<Record<string, number>> };
  assert.equal(rows["threads"], 6);

  const inPostgres = { env: { DATABASE_URI: uri } };
  for (const options of FULL ? [inPostgres, { dataDir }] : [inPostgres]) {
    const second = await startServerHere({ config, ...options });
    try {
      assert.deepEqual(await seen(second), before); // move.2
      await goOn(second, paused, broken.threadId);
    } finally {
      await second.stop();
      removeFolder(second.dataDir);
    }
  }
  removeFolder(first.dataDir);
});

/** move.3: every question takes one answer; a breakpoint continues. */
async function goOn(server: ServerHere, paused: readonly string[], broken: string): Promise<void> {
  for (const threadId of paused) {
    const items = await readItems(server, threadId);
    assert.ok(items.length > 0);
    const resume = Object.fromEntries(items.map(({ id }) => [id, "go on"]));
    const body = { assistant_id: items[0]?.assistant_id, command: { resume } };
    const went = await call(server, "POST", `/threads/${threadId}/runs/wait`, body);
    assert.equal(went.status, 200, went.text);
    assert.ok(!went.text.includes("__error__"), went.text);
    const late = await call(server, "POST", `/threads/${threadId}/runs/wait`, body);
    assert.match(late.text, /"code":"interrupt_stale"/);
  }
  const passed = await call(server, "POST", `/threads/${broken}/runs/wait`, { assistant_id: "steps", input: null });
  assert.equal(passed.status, 200);
}

/** Nothing ends the run in progress. */
const BRIEFLY = { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1" };

test("a running server is backed up, and another one starts on the copy (move.1, move.4)", async () => {
  const server = await startServerHere({ config, env: BRIEFLY });
  const thread = await newThread(server, "echo");
  await thread.run({ input: { payload: "Well?" } });
  const item = (await readItems(server, thread.threadId))[0];
  const busy = await newThread(server, "hanging");
  await call(server, "POST", `/threads/${busy.threadId}/runs`, { assistant_id: "hanging", input: {} });
  try {
    const writing = Array.from({ length: 20 }, () => call(server, "POST", "/threads", {}));
    const copied = await move("backup", "copy.db", server.dataDir);
    await Promise.all(writing);
    assert.equal(copied.code, 0, copied.err);
    await thread.resume("answered since");
    const again = await move("backup", "copy.db", server.dataDir);
    assert.deepEqual([again.code, /exists already/.test(again.err)], [1, true]);
  } finally {
    await server.stop();
    removeFolder(server.dataDir);
  }
  const dataDir = join(folder, "restored");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "holdpoint.db"), readFileSync(join(folder, "copy.db")));
  const restored = await startServerHere({ config, dataDir, env: BRIEFLY });
  try {
    assert.deepEqual(await readItems(restored, thread.threadId), [item]); // as it was at that moment: open
  } finally {
    await restored.stop();
  }
});

const STEPS = ["one", "two", "three", "four"];

test("a backup among pauses and answers: it has the acknowledged ones, and open interrupts accept answers (move.1, move.3)", async () => {
  const server = await startServerHere();
  const threads = await Promise.all(Array.from({ length: 4 }, () => newThread(server, "series")));
  const acknowledged = new Map<string, number>();
  const answered = createArrivals<string>();
  const done = new AbortController();
  const working = threads.map(async (thread, at) => {
    await thread.run({ input: {} });
    for (let given = 0; given < STEPS.length && (!done.signal.aborted || given <= at); given++) {
      await thread.resume(`first ${given}`);
      acknowledged.set(thread.threadId, given + 1);
      answered.add(thread.threadId);
    }
  });
  await answered.when("an answer of each", () => acknowledged.size === threads.length);
  const before = new Map(acknowledged);
  const copied = await move("backup", "busy.db", server.dataDir);
  done.abort();
  await Promise.all(working);
  await server.stop();
  removeFolder(server.dataDir);
  assert.equal(copied.code, 0, copied.err);

  const dataDir = join(folder, "busy");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "holdpoint.db"), readFileSync(join(folder, "busy.db")));
  const restored = await startServerHere({ dataDir });
  try {
    for (const { threadId } of threads) {
      const thread = openThread(restored, "series", threadId);
      await until("what was running has paused or ended", async () =>
        (await thread.get()).status === "busy" ? undefined : true,
      );
      const answers = ((await thread.get()).values?.["answers"] ?? []) as string[];
      assert.ok(answers.length >= (before.get(threadId) ?? 0), `${answers.length} answers are in the copy`);
      for (let given = answers.length; given < STEPS.length; given++) {
        assert.deepEqual(
          (await thread.open()).map(({ value }) => value),
          [{ step: STEPS[given] }],
        );
        await thread.resume(`second ${given}`);
      }
      const given = STEPS.map((_, at) => `${at < answers.length ? "first" : "second"} ${at}`);
      assert.deepEqual((await thread.get()).values?.["answers"], given);
    }
  } finally {
    await restored.stop();
  }
});
