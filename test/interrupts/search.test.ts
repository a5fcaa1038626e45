// Tests of full-text search over items, threads and the audit trail, over HTTP.
// Rules:
//   interrupts/search.1. A search finds what was stored before it: questions, answers, comments, metadata and states.
//   interrupts/search.2. A deleted thread is in no search, and no text of a query is an error.
//   interrupts/search.3. A server that starts on older data, or after a crash, indexes it.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { verb } from "../harness/cli.ts";
import { readItems } from "../harness/inbox.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { newThread, type TestThread } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface Row {
  readonly id?: string;
  readonly thread_id: string;
  readonly action?: string;
}

const inInbox = async (q: string): Promise<readonly string[]> => {
  const { items }: { readonly items: readonly Row[] } = (
    await call(server, "GET", `/inbox?values=false&q=${encodeURIComponent(q)}`)
  ).body;
  const { count }: { readonly count: number } = (await call(server, "GET", `/inbox/count?q=${encodeURIComponent(q)}`))
    .body;
  assert.equal(count, items.length);
  return items.map((item) => item.thread_id);
};
const inThreads = async (q: string): Promise<readonly string[]> => {
  const rows: readonly Row[] = (await call(server, "POST", "/threads/search", { q, limit: 100, select: ["thread_id"] }))
    .body;
  assert.equal((await call(server, "POST", "/threads/count", { q })).body, rows.length);
  return rows.map((row) => row.thread_id);
};
const inAudit = async (q: string): Promise<readonly (string | undefined)[]> => {
  const { items }: { readonly items: readonly Row[] } = (await call(server, "GET", `/audit?q=${encodeURIComponent(q)}`))
    .body;
  return items.map((entry) => entry.action);
};

async function asking(payload: unknown, metadata: object = {}): Promise<{ thread: TestThread; path: string }> {
  const thread = await newThread(server, "echo", { metadata });
  await thread.run({ input: { payload } });
  const [item] = await readItems(server, thread.threadId);
  return { thread, path: `/inbox/${thread.threadId}/${item?.id}` };
}

test("a search finds questions, metadata, comments and answers at once (interrupts/search.1)", async () => {
  const { thread, path } = await asking({ question: "Refund order 4711?" }, { customer: "Müller" });
  const id = thread.threadId;
  await asking({ question: "Refund order 4712?" });
  for (const q of ["4711", "refund 4711", "ORDER MULLER", "refu 471 müll", id])
    assert.deepEqual(await inInbox(q), [id], q);
  assert.equal((await inInbox("refund")).length, 2);
  assert.deepEqual(await inThreads("muller"), [id]);
  assert.deepEqual(await inAudit("4711"), []);
  await call(server, "POST", `${path}/comments`, { by: "ann", text: "Verified by telephone" });
  assert.deepEqual(await inInbox("telephone"), [id]);
  assert.deepEqual(await inAudit("telephone"), ["commented"]);
  await call(server, "PATCH", thread.path, { metadata: { region: "emea" } });
  assert.deepEqual(await inInbox("emea 4711"), [id]);
  await thread.resume("agreed wholeheartedly");
  assert.deepEqual(await inInbox("4711"), []);
  assert.deepEqual(await inAudit("wholeheartedly 4711"), ["answered", "commented"]);
  assert.deepEqual(await inThreads("wholeheartedly"), [id], "the state has the answer");
});

test("a deleted thread is in no search, and no query is an error (interrupts/search.2)", async () => {
  const { thread } = await asking("perishable goods");
  await thread.resume("fine");
  assert.deepEqual([await inThreads("perishable"), await inAudit("perishable")], [[thread.threadId], ["answered"]]);
  await call(server, "DELETE", thread.path);
  assert.deepEqual([await inThreads("perishable"), await inAudit("perishable")], [[], []]);
  const everything = (await inThreads("")).length;
  for (const q of ['"', "a* OR b", "NEAR(x)", "-", "(((", "'; DROP TABLE threads", "\\", "%", "💥", "{words}: x"]) {
    for (const search of [inInbox, inThreads, inAudit]) await search(q);
  }
  assert.equal((await inThreads("!?")).length, everything, "a query without words selects everything");
  assert.equal((await call(server, "GET", `/inbox?q=${"x".repeat(1025)}`)).status, 422);
});

test("a server indexes what an earlier one left (interrupts/search.3)", async () => {
  const first = await startServerHere();
  const thread = await newThread(first, "echo", { metadata: { code: "lighthouse" } });
  await thread.run({ input: { payload: "?" } });
  await first.stop();
  const second = await startServerHere({ dataDir: first.dataDir });
  try {
    if (process.env["HOLDPOINT_TEST_STORAGE"] !== "postgres") {
      await second.whenLogged("the index", (logs) => logs.some(({ event }) => event === "search_index_complete"));
    }
    const { body }: { readonly body: readonly Row[] } = await call(second, "POST", "/threads/search", {
      q: "lighthouse",
    });
    assert.deepEqual(
      body.map((row) => row.thread_id),
      [thread.threadId],
    );
  } finally {
    await second.stop();
    removeFolder(first.dataDir);
  }
});

test("the command line searches items, threads and the audit trail (interrupts/search.1)", async () => {
  const { thread } = await asking({ question: "Charter a zeppelin?" });
  const run = async (...args: readonly string[]) => (await verb(args, { env: { HOLDPOINT_URL: server.url } })).out;
  assert.match(await run("inbox", "ls", "--search", "zeppelin"), /Charter a zeppelin\?/);
  assert.match(await run("inbox", "ls", "--search", "nothing like it"), /No pending interrupts/);
  assert.match(await run("threads", "ls", "--search", "zepp"), new RegExp(thread.threadId.slice(0, 8)));
  await thread.resume("yes");
  assert.match(await run("audit", "ls", "--search", "zeppelin", "--action", "answered"), /answered .*Charter/);
});
