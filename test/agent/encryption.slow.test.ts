// Tests of encryption at rest, as an operator uses it: keys in the environment, files of the data folder, restarts.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { type NotStarted, type ServerHere, startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, startServer, temporaryFolder } from "../harness/server.ts";
import { newThread, readProblem } from "../harness/threads.ts";
import { backUp } from "@holdpoint/server/storage/sqlite/backup.ts";

const CANARY = "canary5f2e";
const newKey = (id: string): string => `${id}:${randomBytes(32).toString("base64")}`;

function newFolder(t: TestContext): string {
  const folder = temporaryFolder();
  t.after(() => removeFolder(folder));
  return folder;
}

const withKeys = (dataDir: string, keys: string) => ({
  dataDir,
  env: { DATABASE_URI: "", HOLDPOINT_ENCRYPTION_KEYS: keys },
});

function serve(dataDir: string, keys: string): Promise<ServerHere> {
  return startServerHere(withKeys(dataDir, keys));
}

/** Names of the files below a folder that have the canary. */
function findIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(CANARY))
    .map(({ name }) => name);
}

/** A canary in every kind of value. @returns the thread, which waits for an answer */
async function fill(server: ServerHere) {
  const thread = await newThread(server, "echo");
  const large = `${CANARY} large `.repeat(1000);
  await thread.run({ input: { payload: { question: `${CANARY} asked`, large } }, metadata: { note: "plain" } });
  await thread.resume({ said: `${CANARY} answered` });
  const waiting = await newThread(server, "echo");
  const webhook = `https://hooks.invalid/${CANARY}`;
  await waiting.run({ input: { payload: { question: `${CANARY} open` } }, webhook, context: { c: CANARY } });
  const [item] = await waiting.open();
  const comments = `/inbox/${waiting.threadId}/${item?.id}/comments`;
  const given: readonly (readonly [string, string, unknown])[] = [
    ["PUT", "/store/items", { namespace: ["a"], key: "k", value: { text: CANARY } }],
    ["POST", "/assistants", { graph_id: "echo", config: { configurable: { c: CANARY } }, description: CANARY }],
    ["POST", "/runs/crons", { assistant_id: "echo", schedule: "0 0 1 1 *", input: { payload: CANARY } }],
    ["POST", `/threads/${thread.threadId}/state`, { values: { payload: { question: `${CANARY} edited` } } }],
    ["POST", "/threads", { config: { configurable: { c: CANARY } } }],
    ["POST", `/threads/${waiting.threadId}/copy`, undefined],
    ["POST", comments, { text: `${CANARY} commented` }],
  ];
  for (const [method, path, body] of given) {
    const { status, text } = await call(server, method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${text}`);
  }
  return waiting;
}

test("no file of a killed server, and no backup, has a value in plain text", PATIENCE, async (t) => {
  const folder = newFolder(t);
  const keys = newKey("k1");
  const first = await startServer(withKeys(folder, keys));
  t.after(() => first.kill());
  await fill(first);
  await first.kill();
  assert.deepEqual(findIn(folder), []);
  const second = await serve(folder, keys);
  const copy = newFolder(t);
  await backUp(folder, join(copy, "holdpoint.db"));
  assert.deepEqual(findIn(copy), []);
  const searched = await call(second, "GET", `/inbox?q=${CANARY}`);
  assert.equal(readProblem(searched).code, "search_off");
  const { items } = (await call(second, "GET", "/inbox")).body as { items: { value: unknown }[] };
  assert.equal(items.length, 2);
  for (const { value } of items) assert.match(JSON.stringify(value), new RegExp(`${CANARY} open`));
  await second.stop();
  assert.deepEqual(findIn(folder), []);
  const restored = await serve(copy, keys);
  assert.equal(((await call(restored, "GET", "/inbox")).body as { items: unknown[] }).items.length, 2);
  await restored.stop();
});

test(
  "plain data is rewritten in the background, a key is changed, and the old one is not needed",
  PATIENCE,
  async (t) => {
    const folder = newFolder(t);
    const [one, two] = [newKey("k1"), newKey("k2")];
    const plain = await serve(folder, "");
    const waiting = await fill(plain);
    await plain.stop();
    assert.deepEqual(findIn(folder), ["holdpoint.db"]);
    for (const keys of [one, `${two},${one}`]) {
      const server = await serve(folder, keys);
      const [id] = keys.split(":");
      await server.whenLogged("the end of the rewrite", (logs) =>
        logs.some((entry) => entry["event"] === "resealed" && String(entry["in_use"]) === id),
      );
      await server.stop();
      assert.deepEqual(findIn(folder), []);
    }
    writeFileSync(join(folder, "keys"), `${two}\n`);
    const last = await serve(folder, `command: cat ${join(folder, "keys")}`);
    const answered = await call(last, "POST", `/threads/${waiting.threadId}/runs/wait`, {
      assistant_id: "echo",
      command: { resume: { said: "yes" } },
    });
    assert.equal(answered.status, 200);
    assert.ok(answered.text.includes("yes"));
    await last.stop();
    for (const keys of ["", one, newKey("k2"), "command: false", "k2:short"]) {
      await assert.rejects(
        serve(folder, keys),
        (error: NotStarted) => error.code === 78 && error.message.includes("HOLDPOINT_ENCRYPTION_KEYS"),
        keys.slice(0, 5),
      );
    }
  },
);

test("a value that was moved to another thread fails there alone", PATIENCE, async (t) => {
  const folder = newFolder(t);
  const keys = newKey("k1");
  const first = await serve(folder, keys);
  const [mine, theirs, other] = [await fill(first), await fill(first), await fill(first)];
  await first.stop();
  const db = new DatabaseSync(join(folder, "holdpoint.db"));
  const { value = null } = db.prepare("SELECT value FROM interrupts WHERE thread_id = ?").get(mine.threadId) ?? {};
  db.prepare("UPDATE interrupts SET value = ? WHERE thread_id = ?").run(value, theirs.threadId);
  db.close();
  const second = await serve(folder, keys);
  const state = await call(second, "GET", `/threads/${theirs.threadId}`);
  assert.deepEqual([state.status, readProblem(state).code], [500, "sealed_value_unreadable"]);
  for (const { threadId } of [mine, other])
    assert.equal((await call(second, "GET", `/threads/${threadId}`)).status, 200);
  const inbox = await call(second, "GET", "/inbox");
  const listed = (inbox.body as { items: { thread_id: string }[] }).items.map((item) => item.thread_id);
  assert.deepEqual(
    [mine, theirs, other].map(({ threadId }) => listed.includes(threadId)),
    [true, false, true],
  );
  await second.stop();
});

test("a pending run that does not open fails, and the runs behind it go on", PATIENCE, async (t) => {
  const folder = newFolder(t);
  const keys = newKey("k1");
  const first = await serve(folder, keys);
  const runs: { threadId: string; runId: string }[] = [];
  for (let at = 0; at < 3; at++) {
    const thread = await newThread(first, "echo");
    const body = { assistant_id: "echo", input: { payload: `${CANARY} ${at}` }, after_seconds: 3600 };
    const { body: run } = await call(first, "POST", `/threads/${thread.threadId}/runs`, body);
    runs.push({ threadId: thread.threadId, runId: (run as { run_id: string }).run_id });
  }
  await first.stop();
  const [moved, sealedThread, last] = runs.map(({ threadId }) => threadId);
  const db = new DatabaseSync(join(folder, "holdpoint.db"));
  const { request = null } = db.prepare("SELECT request FROM runs WHERE thread_id = ?").get(last ?? "") ?? {};
  db.prepare("UPDATE runs SET request = ? WHERE thread_id = ?").run(request, moved ?? "");
  db.prepare("UPDATE threads SET config = ? WHERE thread_id = ?").run(request, sealedThread ?? "");
  for (const [at, { runId }] of runs.entries())
    db.prepare("UPDATE runs SET due_at = ? WHERE run_id = ?").run(Date.now() - 10_000 + at, runId);
  db.close();
  const second = await serve(folder, keys);
  const waited = await call(second, "GET", `/threads/${last}/runs/${runs[2]?.runId}/join`);
  assert.equal(waited.status, 200, waited.text);
  const unreadable = await call(second, "GET", `/threads/${moved}/runs/${runs[0]?.runId}`);
  assert.equal(readProblem(unreadable).code, "sealed_value_unreadable");
  const failed = await call(second, "GET", `/threads/${sealedThread}/runs/${runs[1]?.runId}`);
  assert.equal((failed.body as { status: string }).status, "error");
  assert.equal(((await call(second, "GET", `/threads/${moved}`)).body as { status: string }).status, "error");
  const next = { assistant_id: "echo", input: { payload: 1 } };
  const { status, text } = await call(second, "POST", `/threads/${moved}/runs/wait`, next);
  assert.equal(status, 200, text);
  await second.stop();
});
