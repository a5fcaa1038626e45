// Tests of the limit of members that are small by nature. Checked:
//   small-members.1. In every call that reads a body, each member is limited, except the values for a graph or the store.
//   small-members.2. A list that is too long is refused by its length, before its items.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { parse } from "@holdpoint/api/operation.ts";
import { answerInbox } from "@holdpoint/api/inbox.ts";
import { createRunBatch } from "@holdpoint/api/stateless.ts";
import { searchThreads } from "@holdpoint/api/threads.ts";
import { streamThreadEvents } from "@holdpoint/api/protocol.ts";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { readProblem } from "../harness/threads.ts";

const BYTES_MAX = 2000;

const server = await startServerHere({ limits: { memberBytesMax: BYTES_MAX } });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const send = (method: string, path: string, body: unknown) => call(server, method, path, body);

/** An object of exactly so many bytes. */
const ofBytes = (bytes: number) => ({ x: "y".repeat(bytes - '{"x":""}'.length) });
const LONG = ofBytes(BYTES_MAX + 1);
const LONG_TEXT = "y".repeat(BYTES_MAX);

const run = { assistant_id: "keeper", input: { value: 1 } };
const item = { namespace: ["a"], key: "k", value: {} };
const command = (params: object) => ({ id: 1, method: "run.start", params });
const THREAD = "/threads/00000000-0000-7000-8000-000000000000";

const CALLS: readonly (readonly [member: string, method: string, path: string, body: unknown])[] = [
  ["metadata", "POST", "/threads", { metadata: LONG }],
  ["metadata", "PATCH", THREAD, { metadata: LONG }],
  ["metadata", "PATCH", `${THREAD}/state`, { metadata: LONG }],
  ["metadata", "POST", "/threads/search", { metadata: LONG }],
  ["values", "POST", "/threads/search", { values: LONG }],
  ["metadata", "POST", "/threads/count", { metadata: LONG }],
  ["metadata", "POST", `${THREAD}/history`, { metadata: LONG }],
  ["checkpoint", "POST", `${THREAD}/state`, { values: {}, checkpoint: LONG }],
  ["metadata", "POST", "/assistants", { graph_id: "keeper", metadata: LONG }],
  ["config", "POST", "/assistants", { graph_id: "keeper", config: LONG }],
  ["context", "POST", "/assistants", { graph_id: "keeper", context: LONG }],
  ["metadata", "POST", "/assistants/search", { metadata: LONG }],
  ["metadata", "POST", `${THREAD}/runs`, { ...run, metadata: LONG }],
  ["config", "POST", `${THREAD}/runs/wait`, { ...run, config: { tags: [LONG_TEXT] } }],
  ["context", "POST", `${THREAD}/runs/stream`, { ...run, context: LONG }],
  ["config", "POST", "/runs", { ...run, config: { configurable: LONG } }],
  ["metadata", "POST", "/runs/batch", [run, { ...run, metadata: LONG }]],
  ["config", "POST", "/runs/crons", { ...run, schedule: "0 0 1 1 *", config: LONG }],
  ["metadata", "POST", "/runs/crons/search", { metadata: LONG }],
  ["filter", "POST", "/store/items/search", { namespace_prefix: ["a"], filter: LONG }],
  ["index", "PUT", "/store/items", { ...item, index: [LONG_TEXT] }],
  ["by", "POST", "/inbox/answers", { by: LONG_TEXT, answers: [] }],
];

suite("a member above the limit is refused by its name (small-members.1)", () => {
  for (const [member, method, path, body] of CALLS)
    test(`${member} of ${method} ${path}`, async () => {
      const answer = await send(method, path, body);
      assert.deepEqual([answer.status, readProblem(answer).code], [413, "member_too_large"]);
      assert.match(readProblem(answer).detail, new RegExp(`^${member} has more than ${BYTES_MAX} bytes`));
    });

  test("a command of the thread protocol", async () => {
    const answer = await send("POST", `${THREAD}/commands`, command({ ...run, metadata: LONG }));
    assert.match(JSON.stringify(answer.body), /metadata has more than 2000 bytes/);
  });
});

test("a body without values for a graph has at most four full members (small-members.1)", async () => {
  const answer = await send("POST", "/threads/search", { metadata: ofBytes(4 * BYTES_MAX) });
  assert.deepEqual([answer.status, readProblem(answer).code], [413, "body_too_large"]);
});

test("the largest member is taken, and values for a graph or the store are not limited by it", PATIENCE, async () => {
  const metadata = ofBytes(BYTES_MAX);
  const thread = await send("POST", "/threads", { metadata });
  assert.deepEqual((thread.body as { readonly metadata: object }).metadata, metadata);
  const path = `/threads/${(thread.body as { readonly thread_id: string }).thread_id}`;
  const value = "v".repeat(20_000);
  const [graph, state] = [
    { ...run, input: { value } },
    { values: { value }, as_node: "keep" },
  ];
  assert.equal((await send("POST", `${path}/runs/wait`, graph)).status, 200);
  assert.notEqual((await send("POST", `${path}/state`, state)).status, 413);
  assert.equal((await send("PUT", "/store/items", { ...item, value: { value } })).status, 204);
  assert.equal((await send("POST", "/runs/batch", [graph])).status, 200);
});

test("a list that is too long has one error, whatever its items are (small-members.2)", () => {
  const items: readonly unknown[] = Array(200_000).fill(1);
  const bodies: readonly (() => unknown)[] = [
    () => parse(searchThreads.body, { ids: items }, "body"),
    () => parse(createRunBatch.body, items, "body"),
    () => parse(answerInbox.body, { answers: items }, "body"),
    () => parse(streamThreadEvents.body, { channels: items }, "body"),
  ];
  for (const read of bodies)
    assert.throws(read, ({ extra }: { readonly extra: { readonly errors: readonly unknown[] } }) => {
      assert.equal(extra.errors.length, 1);
      return true;
    });
});

test("a command and a cron hold no long values: they are read with their run and their list", async () => {
  const thread = await send("POST", "/threads", {});
  const path = `/threads/${(thread.body as { readonly thread_id: string }).thread_id}/runs`;
  const long = "v".repeat(5 * 1024 * 1024);
  for (const [name, command] of Object.entries({ update: { value: long }, goto: { node: "keep", input: long } })) {
    const answer = await send("POST", path, { assistant_id: "keeper", command: { [name]: command } });
    assert.deepEqual([answer.status, readProblem(answer).code], [413, "member_too_large"]);
    assert.match(readProblem(answer).detail, new RegExp(`^command\\.${name} .*4194304 bytes`));
  }
  const cron = await send("POST", "/runs/crons", { ...run, input: LONG, schedule: "0 0 1 1 *" });
  assert.match(readProblem(cron).detail, /^input has more than/);
});

suite("metadata that calls add to has the limit as a whole (small-members.1)", () => {
  const part = (name: string) => ({ [name]: "y".repeat(0.6 * BYTES_MAX) });
  const readId = (body: unknown, name: string): string => (body as Readonly<Record<string, string>>)[name] ?? "";
  for (const [kind, path, id, given] of [
    ["thread", "/threads", "thread_id", {}],
    ["assistant", "/assistants", "assistant_id", { graph_id: "keeper" }],
    ["cron", "/runs/crons", "cron_id", { ...run, schedule: "0 0 1 1 *" }],
  ] as const)
    test(`of a ${kind}`, PATIENCE, async () => {
      const made = await send("POST", path, { ...given, metadata: part("a") });
      assert.equal(made.status, 200);
      const address = `${path}/${readId(made.body, id)}`;
      const refused = await send("PATCH", address, { metadata: part("b") });
      assert.deepEqual([refused.status, readProblem(refused).code], [413, "member_too_large"]);
      const accepted = await send("PATCH", address, { metadata: { a: "replaced", ...part("b") } });
      assert.equal(accepted.status, 200);
      const { metadata } = accepted.body as { readonly metadata: object };
      assert.partialDeepStrictEqual(metadata, { a: "replaced", ...part("b") });
    });
});

test("an object with too many members is refused while it is parsed", async () => {
  const wide = Object.fromEntries(Array.from({ length: 100_001 }, (_, at) => [`key ${at}`, at]));
  const answer = await send("POST", "/runs/wait", { ...run, input: { value: wide } });
  assert.deepEqual([answer.status, readProblem(answer).code], [422, "body_too_wide"]);
});
