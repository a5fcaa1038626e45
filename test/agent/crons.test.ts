// Tests of crons, end to end with the official client: create, change, search, delete, and the runs of their ticks.
import { Client, type Cron } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";
import { followLog, until } from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const EVERY_SECOND = "* * * * * *";
const NEVER_HERE = "0 0 1 1 *";
const server = await startServerHere({ limits: { cronsMax: 15 } });
const client = new Client({ apiUrl: server.url, apiKey: null });
const { crons, threads, runs } = client;
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface Mark {
  readonly key: string;
  readonly value: { readonly thread_id: string; readonly due: string };
}

/** The runs that a cron's ticks have had, the newest first. */
async function readMarks(mark: string, from = client): Promise<readonly Mark[]> {
  return (await from.store.searchItems(["ticks", mark], { limit: 1000 })).items as unknown as readonly Mark[];
}

async function someMarks(mark: string, count: number): Promise<readonly Mark[]> {
  return followLog(server, `${count} ticks of ${mark}`, async () => {
    const marks = await readMarks(mark);
    return marks.length >= count ? marks : undefined;
  });
}

suite("a cron", () => {
  test("a new cron has the requested fields, and the time of its next tick", PATIENCE, async () => {
    const made = (await crons.create("ticker", {
      schedule: "30 9 * * MON-FRI",
      timezone: "Europe/Berlin",
      endTime: "2099-01-01T00:00:00Z",
      input: { mark: "none" },
      metadata: { purpose: "news" },
      config: { tags: ["x"] },
      context: { a: 1 },
      interruptBefore: ["tick"],
      multitaskStrategy: "reject",
      durability: "sync",
      onRunCompleted: "keep",
      streamMode: ["values", "updates"],
    })) as unknown as Cron;
    const [assistant] = await client.assistants.search({ graphId: "ticker" });
    const { cron_id: id, created_at: createdAt, updated_at: updatedAt, next_run_date: due, ...rest } = made;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.equal(createdAt, updatedAt);
    const inBerlin = new Date(due ?? "").toLocaleString("en-GB", { timeZone: "Europe/Berlin", timeStyle: "medium" });
    assert.equal(inBerlin, "09:30:00");
    assert.deepEqual(rest, {
      assistant_id: assistant?.assistant_id,
      thread_id: null,
      user_id: null,
      disabled_reason: null,
      schedule: "30 9 * * MON-FRI",
      timezone: "Europe/Berlin",
      end_time: "2099-01-01T00:00:00.000Z",
      enabled: true,
      on_run_completed: "keep",
      metadata: { purpose: "news" },
      payload: {
        assistant_id: "ticker",
        input: { mark: "none" },
        config: { tags: ["x"] },
        context: { a: 1 },
        interrupt_before: ["tick"],
        multitask_strategy: "reject",
        durability: "sync",
        stream_mode: ["values", "updates"],
      },
    });
    const path = `/runs/crons/${id}`;
    const { body } = await call(server, "GET", path);
    assert.equal((body as Cron).cron_id, id);
    await crons.delete(id);
    assert.equal((await call(server, "GET", path)).status, 404);
  });

  test("is found, counted, changed and deleted", PATIENCE, async () => {
    const { thread_id: thread } = await threads.create();
    const metadata = { suite: "found" };
    const one = await crons.create("ticker", { schedule: NEVER_HERE, metadata: { ...metadata, n: 1 } });
    const two = await crons.createForThread(thread, "steps", { schedule: "0 0 2 1 *", metadata, enabled: false });
    assert.equal(two.thread_id, thread);
    assert.equal(two.next_run_date, null, "it is not enabled");
    const ids = async (query: Parameters<typeof crons.search>[0]) =>
      (await crons.search({ metadata, ...query })).map(({ cron_id: id }) => id);
    assert.deepEqual(await ids({}), [two.cron_id, one.cron_id]);
    assert.deepEqual(await ids({ assistantId: one.assistant_id }), [one.cron_id]);
    assert.deepEqual(await ids({ threadId: thread }), [two.cron_id]);
    assert.deepEqual(await ids({ enabled: true }), [one.cron_id]);
    assert.deepEqual(await ids({ sortBy: "created_at", sortOrder: "asc", limit: 1 }), [one.cron_id]);
    assert.deepEqual(await ids({ offset: 1 }), [one.cron_id]);
    const [picked] = await crons.search({ metadata, limit: 1, select: ["cron_id", "schedule"] });
    assert.deepEqual(picked, { cron_id: two.cron_id, schedule: "0 0 2 1 *" });
    assert.equal(await crons.count({ metadata }), 2);
    assert.equal(await crons.count({ metadata, threadId: thread }), 1);

    const changed = await crons.update(two.cron_id, { enabled: true, metadata: { more: true }, input: { x: 1 } });
    assert.deepEqual(changed.metadata, { ...metadata, more: true });
    assert.deepEqual(changed.payload, { assistant_id: "steps", input: { x: 1 } });
    assert.match(changed.next_run_date ?? "", /-01-02T00:00:00\.000Z$/);
    const moved = await crons.update(two.cron_id, { timezone: "Asia/Tokyo", endTime: "2000-01-01T00:00:00Z" });
    assert.equal(moved.next_run_date, null, "its time is over");
    const again = await crons.update(two.cron_id, { endTime: null });
    assert.match(again.next_run_date ?? "", /-01-01T15:00:00\.000Z$/);

    await crons.delete(one.cron_id);
    await threads.delete(thread);
    assert.equal(await crons.count({ metadata }), 0, "a cron of a thread goes with it");
  });
});

suite("its ticks", () => {
  test("start runs on threads that go with them; on_run_completed keep keeps the thread", PATIENCE, async () => {
    const gone = await crons.create("ticker", { schedule: EVERY_SECOND, input: { mark: "gone" } });
    const kept = await crons.create("ticker", {
      schedule: EVERY_SECOND,
      input: { mark: "kept" },
      metadata: { purpose: "news" },
      onRunCompleted: "keep",
    });
    const [first, second] = await Promise.all([someMarks("gone", 2), someMarks("kept", 2)]);
    await Promise.all([crons.delete(gone.cron_id), crons.delete(kept.cron_id)]);
    for (const marks of [first, second]) {
      assert.equal(new Set(marks.map(({ value }) => value.thread_id)).size, marks.length, "one thread a run");
      assert.equal(new Set(marks.map(({ value }) => value.due)).size, marks.length, "one run a tick");
    }
    for (const { value } of first) {
      const path = `/threads/${value.thread_id}`;
      await until("the end of the thread", async () =>
        (await call(server, "GET", path)).status === 404 ? 1 : undefined,
      );
    }
    for (const { key, value } of second) {
      const run = await runs.get(value.thread_id, key);
      const { cron_id: cronId, cron_due: due, purpose } = run.metadata as Record<string, unknown>;
      assert.deepEqual([cronId, due, purpose], [kept.cron_id, value.due, "news"]);
    }
  });

  test("start runs on the cron's own thread, one after the other", PATIENCE, async () => {
    const { thread_id: thread } = await threads.create();
    const input = { mark: "thread" };
    const { cron_id: id } = await crons.createForThread(thread, "ticker", { schedule: EVERY_SECOND, input });
    const marks = await someMarks("thread", 2);
    await crons.delete(id);
    assert.deepEqual([...new Set(marks.map(({ value }) => value.thread_id))], [thread]);
  });

  test("come when the cron is enabled, and not when it is disabled", PATIENCE, async () => {
    const input = { mark: "later" };
    const { cron_id: id } = await crons.create("ticker", { schedule: EVERY_SECOND, input, enabled: false });
    const other = await crons.create("ticker", { schedule: EVERY_SECOND, input: { mark: "meanwhile" } });
    await someMarks("meanwhile", 2);
    assert.equal((await readMarks("later")).length, 0);
    await crons.update(id, { enabled: true });
    await someMarks("later", 1);
    await Promise.all([crons.delete(id), crons.delete(other.cron_id)]);
  });
});

suite("refusals", () => {
  const good = { assistant_id: "ticker", schedule: NEVER_HERE };
  const unknown = "01a1fd91-725c-7105-81f8-f28efc3e8a5a";
  const CASES: readonly (readonly [name: string, status: number, code: string, path: string, body: object])[] = [
    ["a schedule that is none", 422, "cron_schedule_invalid", "/runs/crons", { ...good, schedule: "61 * * * *" }],
    ["a schedule that is never due", 422, "cron_schedule_invalid", "/runs/crons", { ...good, schedule: "0 0 31 2 *" }],
    ["a zone that does not exist", 422, "cron_schedule_invalid", "/runs/crons", { ...good, timezone: "Mars/X" }],
    ["an end before the first tick", 422, "cron_schedule_invalid", "/runs/crons", { ...good, end_time: "2020-01-01" }],
    ["no schedule", 422, "invalid_request", "/runs/crons", { assistant_id: "ticker" }],
    ["an end that is no time", 422, "invalid_request", "/runs/crons", { ...good, end_time: "soon" }],
    ["no assistant", 422, "invalid_request", "/runs/crons", { schedule: NEVER_HERE }],
    ["an unknown assistant", 404, "assistant_not_found", "/runs/crons", { ...good, assistant_id: "nobody" }],
    ["an unknown node", 422, "node_unknown", "/runs/crons", { ...good, interrupt_before: ["nowhere"] }],
    ["an unknown thread", 404, "thread_not_found", `/threads/${unknown}/runs/crons`, good],
    ["an unknown field to sort by", 422, "invalid_request", "/runs/crons/search", { sort_by: "payload" }],
  ];
  for (const [name, status, code, path, body] of CASES) {
    test(`${name} is ${code}`, PATIENCE, async () => {
      const reply = await call(server, "POST", path, body);
      assert.deepEqual([reply.status, (reply.body as { readonly code: string }).code], [status, code], reply.text);
    });
  }

  for (const [name, id] of [
    ["an unknown cron", unknown],
    ["what is no id", "x"],
  ] as const) {
    test(`${name} is cron_not_found, to change and to delete`, PATIENCE, async () => {
      for (const method of ["PATCH", "DELETE"]) {
        const reply = await call(server, method, `/runs/crons/${id}`, method === "PATCH" ? {} : undefined);
        assert.deepEqual([reply.status, (reply.body as { readonly code: string }).code], [404, "cron_not_found"]);
      }
    });
  }

  test("a change that is refused changes nothing", PATIENCE, async () => {
    const { cron_id: id } = await crons.create("ticker", { schedule: NEVER_HERE, metadata: { suite: "unchanged" } });
    await assert.rejects(crons.update(id, { schedule: "no", metadata: { x: 1 } }), /cron_schedule_invalid/);
    const [cron] = await crons.search({ metadata: { suite: "unchanged" } });
    assert.deepEqual([cron?.schedule, cron?.metadata], [NEVER_HERE, { suite: "unchanged" }]);
    await crons.delete(id);
  });

  test("more crons than the limit are cron_limit", PATIENCE, async () => {
    const made: string[] = [];
    const free = 15 - (await crons.count());
    for (let at = 0; at < free; at++) made.push((await crons.create("ticker", { schedule: NEVER_HERE })).cron_id);
    await assert.rejects(crons.create("ticker", { schedule: NEVER_HERE }), /^Error: HTTP 409: .*cron_limit/);
    for (const id of made) await crons.delete(id);
  });
});

test("the server reports support for crons", PATIENCE, async () => {
  const { body } = await call(server, "GET", "/info");
  assert.equal((body as { readonly flags: { readonly crons: boolean } }).flags.crons, true);
});

test("tenants have crons and memories of their own", PATIENCE, async (t) => {
  const tenants = await startServerHere({ config: join(ROOT, "test", "graphs", "tenants", "langgraph.json") });
  t.after(async () => {
    await tenants.stop();
    removeFolder(tenants.dataDir);
  });
  const as = (name: string) =>
    new Client({ apiUrl: tenants.url, apiKey: null, defaultHeaders: { authorization: `Bearer token-${name}` } });
  const [ann, bob, eve] = [as("ann"), as("bob"), as("eve")];
  const { cron_id: id, metadata } = await ann.crons.create("agent", { schedule: NEVER_HERE });
  assert.deepEqual(metadata, { org: "acme" });
  assert.deepEqual(
    (await eve.crons.search()).map((cron) => cron.cron_id),
    [id],
  );
  assert.deepEqual([await bob.crons.search(), await bob.crons.count()], [[], 0]);
  await assert.rejects(bob.crons.update(id, { enabled: false }), /cron_not_found/);
  await assert.rejects(bob.crons.delete(id), /cron_not_found/);
  await assert.rejects(eve.crons.create("agent", { schedule: NEVER_HERE }), /forbidden/);
  const { thread_id: thread } = await ann.threads.create();
  await assert.rejects(bob.crons.createForThread(thread, "agent", { schedule: NEVER_HERE }), /thread_not_found/);

  const { cron_id: ticking } = await ann.crons.create("whoami", { schedule: EVERY_SECOND, onRunCompleted: "keep" });
  const made = await followLog(tenants, "a thread of the cron", async () => (await eve.threads.search())[0]);
  await ann.crons.delete(ticking);
  assert.equal(made.metadata?.["org"], "acme", "the thread is its maker's");
  assert.deepEqual(await bob.threads.search(), []);

  await ann.store.putItem(["notes"], "k", { text: "ours" });
  assert.deepEqual((await eve.store.getItem(["notes"], "k"))?.namespace, ["acme", "notes"]);
  assert.equal((await eve.store.searchItems(["notes"])).items.length, 1);
  assert.deepEqual(await eve.store.listNamespaces(), { namespaces: [["acme", "notes"]] });
  assert.equal(await bob.store.getItem(["notes"], "k"), null);
  assert.deepEqual((await bob.store.searchItems([])).items, []);
  assert.deepEqual(await bob.store.listNamespaces(), { namespaces: [] });
  await bob.store.deleteItem(["notes"], "k");
  assert.deepEqual((await ann.store.getItem(["notes"], "k"))?.value, { text: "ours" });
});
