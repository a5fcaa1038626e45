// Tests of what a server keeps over kill -9 and a new start, over HTTP. Checked, as in the files of these names:
//   deadlines.3, identity.1, langgraph-store.2, streaming.4; assistants and items of the store.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { readEvents, type WireEvent } from "../harness/events.ts";
import { readAudit, readItems } from "../harness/inbox.ts";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";
import { newThread, openThread, until } from "../harness/threads.ts";

const DAY_SECONDS = 86_400;
const DESCRIBED = join(ROOT, "test", "graphs", "described.json");
const TENANTS = join(ROOT, "test", "graphs", "tenants", "langgraph.json");

/** What the graph saw of its caller. */
interface Told {
  readonly before: {
    readonly configurable: {
      readonly langgraph_auth_user_id: string;
      readonly langgraph_auth_user: { readonly org: string };
    };
  };
}

test("deadlines, items and events are kept: a deadline that passes while the server is down comes at its start (deadlines.3, langgraph-store.2, streaming.4)", async (t) => {
  const nodeArgs = ["--import", join(ROOT, "test", "harness", "faults", "faults.ts")];
  const dataDir = temporaryFolder();
  t.after(() => removeFolder(dataDir));
  const startLater = async (seconds: number): Promise<TestServer> => {
    const env = { HOLDPOINT_TEST_CLOCK_SHIFT_MS: String(seconds * 1000) };
    const server = await startServer({ dataDir, nodeArgs, env });
    t.after(() => server.kill());
    return server;
  };
  const first = await startLater(0);
  const ids: string[] = [];
  for (const onExpiry of [{ answer: "late" }, "fail"]) {
    const thread = await newThread(first, "timed");
    await thread.run({ input: { payload: { expires_in_seconds: DAY_SECONDS, on_expiry: onExpiry } } });
    ids.push(thread.threadId);
  }
  const seen = await storeAndSee(first);
  await first.kill();

  const second = await startLater(DAY_SECONDS - 600);
  for (const id of ids) {
    const [item] = await readItems(second, id);
    assert.deepEqual([item?.state, item?.overdue], ["open", false]);
  }
  await checkSeen(second, seen);
  await second.kill();

  const third = await startLater(DAY_SECONDS + 600);
  const [answered, failed] = ids.map((id) => openThread(third, "timed", id));
  await answered?.reaches("idle");
  await failed?.reaches("error");
  assert.deepEqual((await answered?.get())?.values?.["answer"], ["late"]);
  for (const id of ids) assert.equal((await readAudit(third, id)).length, 1);
});

interface Seen {
  readonly path: string;
  readonly before: readonly WireEvent[];
}

/** An item, the events of a finished run, and the put of a node that then hangs. */
async function storeAndSee(server: TestServer): Promise<Seen> {
  const { threads, runs, store } = new Client({ apiUrl: server.url, apiKey: null });
  await store.putItem(["kept"], "k", { x: 1 });
  const teller = await newThread(server, "teller");
  const run = await teller.begin({ input: { ask: true }, stream_mode: ["custom", "values"], stream_resumable: true });
  const path = `${teller.path}/runs/${run.run_id}/stream`;
  const before = await (await readEvents(server, path)).rest();
  const { thread_id: id } = await threads.create();
  await runs.create(id, "memory_then_hang", { input: { put: "k" } });
  await until("the put of the node", async () => (await store.getItem(["hang"], "k")) ?? undefined);
  return { path, before };
}

/** They are on disk when they are seen. */
async function checkSeen(server: TestServer, { path, before }: Seen): Promise<void> {
  const { store } = new Client({ apiUrl: server.url, apiKey: null });
  assert.deepEqual((await store.getItem(["kept"], "k"))?.value, { x: 1 });
  assert.deepEqual((await store.getItem(["hang"], "k"))?.value, { kept: true });
  assert.deepEqual(await (await readEvents(server, path)).rest(), before);
  const rest = await (await readEvents(server, path, { lastEventId: before[1]?.id ?? "" })).rest();
  assert.deepEqual(rest, before.slice(2));
}

test("assistants and their versions survive a restart; those of a removed graph are hidden", PATIENCE, async () => {
  const first = await startServer({ config: DESCRIBED });
  try {
    const before = new Client({ apiUrl: first.url, apiKey: null });
    const { assistant_id: id } = await before.assistants.create({ graphId: "settings", name: "Kind" });
    const { assistant_id: lost } = await before.assistants.create({ graphId: "slow" });
    await before.assistants.update(id, { name: "two", context: null });
    await before.assistants.update("agent", { metadata: { colour: "red" } });
    const versions = await before.assistants.getVersions(id);
    const current = await before.assistants.setLatest(id, 1);
    await first.kill();

    const config = join(ROOT, "test", "graphs", "described-fewer.json");
    const second = await startServerHere({ config, dataDir: first.dataDir });
    try {
      const later = new Client({ apiUrl: second.url, apiKey: null });
      assert.deepEqual(await later.assistants.get(id), current);
      assert.deepEqual(await later.assistants.getVersions(id), versions);
      assert.deepEqual((await later.assistants.get("agent")).metadata, { created_by: "system", colour: "red" });
      for (const name of [lost, "slow"])
        await assert.rejects(later.assistants.get(name), /^Error: HTTP 404: .*"code":"assistant_not_found"/);
      assert.equal(await later.assistants.count(), 3);
    } finally {
      await second.stop();
    }
  } finally {
    await first.kill();
    removeFolder(first.dataDir);
  }
});

test("a run still queued when the process died keeps its caller's identity (identity.1)", PATIENCE, async (t) => {
  const first = await startServer({ config: TENANTS });
  t.after(() => removeFolder(first.dataDir));
  const as = (name: string): Record<string, string> => ({ authorization: `Bearer token-${name}` });
  const made = async (path: string, name: string, body: object): Promise<Readonly<Record<string, unknown>>> =>
    (await call(first, "POST", path, body, as(name))).body;
  const { thread_id: thread } = await made("/threads", "ann", {});
  const runs = `/threads/${String(thread)}/runs`;
  await made(runs, "kim", { assistant_id: "slow", input: { waitMs: 600_000 } });
  const { run_id: queued } = await made(runs, "ann", { assistant_id: "whoami", input: {} });
  await first.kill();
  const second = await startServerHere({ config: TENANTS, dataDir: first.dataDir });
  t.after(() => second.stop());
  await call(second, "POST", "/runs/cancel", { thread_id: thread, status: "running" }, as("kim"));
  const joined = await call(second, "GET", `${runs}/${String(queued)}/join`, undefined, as("ann"));
  const { configurable } = (joined.body as Told).before;
  assert.deepEqual([configurable.langgraph_auth_user_id, configurable.langgraph_auth_user.org], ["ann", "acme"]);
});
