// Tests of the caller's identity in runs and tenants.
// Rules:
//   identity.1. A graph gets the identity of the run's caller: in a first attempt, from the queue, after a crash; after
//        an answer, that of the answering person. The audit trail has the name.
//   identity.2. A request cannot set the server's own keys, at any place in it.
//   identity.3. An object belongs to the tenant that created it, regardless of the request's body.
//   identity.4. An Idempotency-Key belongs to its caller and never yields another caller's run.
//   identity.5. A path has one reading.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { after, test } from "node:test";
import { raw } from "../harness/raw.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, type TestServer } from "../harness/server.ts";
import { PATIENCE } from "../harness/patience.ts";

const TENANTS = join(ROOT, "test", "graphs", "tenants", "langgraph.json");
const server = await startServerHere({ config: TENANTS });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

type Told = { readonly configurable: Record<string, unknown>; readonly metadata: Record<string, unknown> };
type Result = { readonly before: Told; readonly after?: Told };
const as = (name: string): Record<string, string> => ({ authorization: `Bearer token-${name}` });

async function made(
  name: string,
  path: string,
  body: object,
  on: Pick<TestServer, "url"> = server,
): Promise<Record<string, never>> {
  const answer = await call(on, "POST", path, body, as(name));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const WHOAMI = { assistant_id: "whoami", input: {} };
const newThread = async (name: string, on: Pick<TestServer, "url"> = server): Promise<string> =>
  String((await made(name, "/threads", {}, on))["thread_id"]);
const waitOn = async (
  name: string,
  thread: string,
  body: object,
  on: Pick<TestServer, "url"> = server,
): Promise<Result> => (await made(name, `/threads/${thread}/runs/wait`, body, on)) as unknown as Result;

function assertTold(told: Told | undefined, identity: string, org: string): void {
  const { langgraph_auth_user: user, langgraph_auth_user_id: id, ...rest } = told?.configurable ?? {};
  assert.deepEqual([id, (user as { readonly org: string }).org], [identity, org]);
  const permissions = (user as { readonly permissions: unknown }).permissions;
  assert.deepEqual(rest["langgraph_auth_permissions"], permissions);
}

test(
  "a graph gets its caller's identity, after an answer that of the answering person; the audit trail has the name (identity.1)",
  PATIENCE,
  async () => {
    const thread = await newThread("ann");
    assertTold((await waitOn("ann", thread, WHOAMI)).before, "ann", "acme");
    const { before, after: answered } = await waitOn("kim", thread, { assistant_id: "whoami", command: { resume: 1 } });
    assertTold(before, "ann", "acme");
    assertTold(answered, "kim", "acme");
    const { body } = await call(server, "GET", `/threads/${thread}/audit`, undefined, as("ann"));
    const { items } = body as { readonly items: readonly { readonly action: string; readonly by: string }[] };
    assert.deepEqual(
      items.map(({ action, by }) => [action, by]),
      [["answered", "kim"]],
    );
  },
);

test("a key's name is the identity, for graphs and for the audit trail (identity.1)", PATIENCE, async (t) => {
  const keyed = await startServerHere({
    config: join(ROOT, "test", "graphs", "tenants", "keys.json"),
    env: { HOLDPOINT_API_KEYS: "clerk:key-of-the-clerk-31\nold:key-of-before-77" },
  });
  t.after(async () => {
    await keyed.stop();
    removeFolder(keyed.dataDir);
  });
  const key = { "x-api-key": "key-of-the-clerk-31" };
  const { thread_id: thread }: { thread_id: string } = (await call(keyed, "POST", "/threads", {}, key)).body;
  const ran = await call(keyed, "POST", `/threads/${thread}/runs/wait`, WHOAMI, key);
  const { configurable } = (ran.body as Result).before;
  assert.equal(configurable["langgraph_auth_user_id"], "clerk");
  assert.deepEqual(configurable["langgraph_auth_permissions"], ["read", "write", "admin"]);
  assert.ok(!ran.text.includes("key-of"), "no key is told");
  const answer = { assistant_id: "whoami", command: { resume: 1 } };
  await call(keyed, "POST", `/threads/${thread}/runs/wait`, answer, { authorization: "Bearer key-of-before-77" });
  const audit = await call(keyed, "GET", `/threads/${thread}/audit`, undefined, key);
  assert.match(audit.text, /"by":"old"/);
  assert.ok(!keyed.output().includes("key-of"), "no key is logged");
});

const OWNED = [
  "langgraph_auth_user",
  "langgraph_auth_user_id",
  "langgraph_auth_permissions",
  "langgraph_auth_anything",
  "thread_id",
  "run_id",
  "assistant_id",
  "graph_id",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
  "run_attempt",
  "idempotency_key",
  "__pregel_resuming",
  "__pregel_checkpointer",
  "__pregel_store",
];
const FORGED = "forged-51c0";
const forged = Object.fromEntries(OWNED.map((name) => [name, FORGED]));

const PLACES: readonly (readonly [place: string, body: object, headers?: Record<string, string>])[] = [
  ["config.configurable", { config: { configurable: forged } }],
  ["config", { config: forged }],
  ["metadata", { metadata: forged }],
  ["config.metadata", { config: { metadata: forged } }],
  ["the body", { ...forged, thread_id: undefined, assistant_id: "whoami", checkpoint_id: undefined, user: FORGED }],
  ["kwargs", { kwargs: { config: { configurable: forged } } }],
  ["checkpoint", { checkpoint: { checkpoint_ns: "", checkpoint_map: { "": FORGED } } }],
  ["headers", {}, Object.fromEntries(OWNED.map((name) => [name.replaceAll("_", "-"), FORGED]))],
  ["headers with x-", {}, { "x-langgraph-auth-user": FORGED, "x-user-id": FORGED, "x-thread-id": FORGED }],
];

for (const [place, body, headers] of PLACES) {
  test(`names that the server owns do not count in ${place} (identity.2)`, PATIENCE, async () => {
    const thread = await newThread("ann");
    const sent = JSON.parse(JSON.stringify({ ...WHOAMI, ...body })) as object;
    const path = `/threads/${thread}/runs/wait`;
    const answer = await call(server, "POST", path, sent, { ...as("ann"), ...headers });
    assert.equal(answer.status, 200, answer.text);
    const { before } = answer.body as Result;
    assertTold(before, "ann", "acme");
    assert.equal(before.configurable["thread_id"], thread);
    assert.equal(before.metadata["thread_id"], thread);
    assert.ok(!JSON.stringify(before).includes(FORGED), JSON.stringify(before));
    const resumed = await waitOn("ann", thread, { assistant_id: "whoami", command: { resume: 1, ...forged }, ...body });
    assertTold(resumed.after, "ann", "acme");
    assert.ok(!JSON.stringify(resumed.after).includes(FORGED));
  });
}

test("names that the server owns do not count in an assistant or a thread either (identity.2)", PATIENCE, async () => {
  const assistant = await made("ann", "/assistants", {
    graph_id: "whoami",
    config: { configurable: forged, ...forged },
    metadata: forged,
  });
  const thread = await made("ann", "/threads", { metadata: { ...forged, thread_id: FORGED } });
  const { before } = await waitOn("ann", String(thread["thread_id"]), {
    assistant_id: String(assistant["assistant_id"]),
    input: {},
  });
  assertTold(before, "ann", "acme");
  assert.ok(!JSON.stringify(before).includes(FORGED), JSON.stringify(before));
});

// Tenants (identity.3, identity.4).

const org = (object: { readonly metadata: { readonly org?: unknown } }): unknown => object.metadata.org;

test(
  "an object belongs to the tenant that created it, regardless of the request's body (identity.3)",
  PATIENCE,
  async () => {
    const metadata = { org: "bolt" };
    assert.equal(org((await made("ann", "/threads", { metadata })) as never), "acme");
    assert.equal(org((await made("ann", "/assistants", { graph_id: "agent", metadata })) as never), "acme");
    const thread = randomUUID();
    await waitOn("ann", thread, { ...WHOAMI, if_not_exists: "create", metadata });
    const read = await call(server, "GET", `/threads/${thread}`, undefined, as("ann"));
    assert.equal(org(read.body), "acme");
    assert.equal((await call(server, "GET", `/threads/${thread}`, undefined, as("bob"))).status, 404);
    const copy = await made("ann", `/threads/${thread}/copy`, {});
    assert.equal(org(copy as never), "acme");
  },
);

test(
  "an object created under a filter gets the values of the filter, and keeps them (identity.3)",
  PATIENCE,
  async () => {
    const metadata = { org: "acme", a: 1 };
    const asLou = { org: "lone", a: 1 };
    const thread = await made("lou", "/threads", { metadata });
    const assistant = await made("lou", "/assistants", { graph_id: "agent", metadata });
    const ran = randomUUID();
    await waitOn("lou", ran, { ...WHOAMI, if_not_exists: "create", metadata });
    const paths = [`/threads/${String(thread["thread_id"])}`, `/assistants/${String(assistant["assistant_id"])}`];
    for (const object of [thread, assistant]) assert.deepEqual(object["metadata"], asLou);
    for (const path of paths) {
      const patched = await call(server, "PATCH", path, { metadata: { org: "acme", a: 1 } }, as("lou"));
      assert.deepEqual((patched.body as { readonly metadata: unknown }).metadata, asLou);
    }
    for (const path of [...paths, `/threads/${ran}`]) {
      assert.equal((await call(server, "GET", path, undefined, as("lou"))).status, 200, path);
      assert.equal((await call(server, "GET", path, undefined, as("ann"))).status, 404, path);
    }
  },
);

test("no change takes it out of the tenant (identity.3)", PATIENCE, async () => {
  const thread = await newThread("ann");
  const { assistant_id: assistant } = await made("ann", "/assistants", { graph_id: "agent" });
  for (const path of [`/threads/${thread}`, `/assistants/${String(assistant)}`]) {
    const patched = await call(server, "PATCH", path, { metadata: { org: "bolt", a: 1 } }, as("ann"));
    assert.equal(org(patched.body), "acme");
    assert.equal((await call(server, "GET", path, undefined, as("bob"))).status, 404);
  }
});

test("a run with if_not_exists: create does not reach another tenant's thread (identity.3)", PATIENCE, async () => {
  const thread = await newThread("ann");
  for (const end of ["runs", "runs/wait", "runs/stream"]) {
    const body = { ...WHOAMI, if_not_exists: "create" };
    const answer = await call(server, "POST", `/threads/${thread}/${end}`, body, as("bob"));
    assert.equal(answer.status, 404, answer.text);
  }
  const { body } = await call(server, "GET", `/threads/${thread}/runs`, undefined, as("ann"));
  assert.deepEqual(body, []);
});

test("an inbox subscriber gets only events of its own tenant (identity.3)", PATIENCE, async (t) => {
  const controller = new AbortController();
  t.after(() => controller.abort());
  const watched = await fetch(`${server.url}/inbox/events`, { headers: as("bob"), signal: controller.signal });
  const reader = watched.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.match((await reader?.read())?.value ?? "", /event: ready/);
  const [anns, bobs] = [await newThread("ann"), await newThread("bob")];
  await waitOn("ann", anns, WHOAMI); // pauses first
  await waitOn("bob", bobs, WHOAMI);
  let received = "";
  while (!received.includes(bobs)) received += (await reader?.read())?.value ?? assert.fail("the stream has ended");
  assert.ok(!received.includes(anns), received);
});

test("an Idempotency-Key is its caller's (identity.4)", PATIENCE, async () => {
  const key = { "idempotency-key": "the-same" };
  const body = { ...WHOAMI, on_completion: "keep" };
  const run = async (name: string): Promise<string> => {
    const answer = await call(server, "POST", "/runs", body, { ...as(name), ...key });
    assert.equal(answer.status, 200, answer.text);
    return (answer.body as { readonly run_id: string }).run_id;
  };
  const anns = await run("ann");
  const bobs = await run("bob");
  assert.notEqual(anns, bobs);
  assert.notEqual(await run("kim"), anns, "not even in one tenant");
  assert.equal(await run("ann"), anns);
  assert.notEqual(await run("ann-of-bolt"), anns, "the same name in another tenant is another caller");
  assert.equal(await run("ann"), anns);
});

test("a run that has left its caller's scope is not shown to a repeated call (identity.4)", PATIENCE, async () => {
  const thread = await newThread("lou");
  const path = `/threads/${thread}/runs`;
  const body = { ...WHOAMI, on_completion: "keep" };
  const key = { "idempotency-key": "left" };
  const first = await call(server, "POST", path, body, { ...as("lou"), ...key });
  assert.equal(first.status, 200, first.text);
  await call(server, "DELETE", `/threads/${thread}`, undefined, as("lou"));
  const again = await call(server, "POST", path, { ...body, if_not_exists: "create" }, { ...as("lou"), ...key });
  const { run_id: runId } = first.body as { readonly run_id: string };
  assert.ok(again.status === 404 || again.status === 409 || again.status === 422, again.text);
  assert.ok(!again.text.includes(runId));
});

// Paths (identity.5).

const id = await newThread("ann");
const TRICKS: readonly (readonly [path: string, status: number])[] = [
  [`/threads/${id}`, 200],
  [`/threads/${id.toUpperCase()}`, 200],
  [`/threads/%3${id.slice(0, 1)}${id.slice(1)}`, 404],
  [`/threads/${id}%00`, 404],
  [`/threads/${id}%20`, 404],
  [`/threads/${id}/`, 404],
  [`/threads/${id}//state`, 404],
  [`//threads/${id}`, 404],
  [`/threads//${id}`, 404],
  [`/threads/./${id}`, 404],
  [`/threads/x/../${id}`, 404],
  [`/assistants/../threads/${id}`, 404],
  [`/threads/${id}/..`, 404],
  [`/threads/x%2F..%2F${id}`, 404],
  [`/threads/${id}%2Fstate`, 404],
  [`/threads%2F${id}`, 404],
  [`/%74hreads/${id}`, 404],
  [`/threads/${id}%2fstate`, 404],
  [`/threads/${id}%5Cstate`, 404],
  [`/threads\\${id}`, 404],
  [`/threads/${id};x=1`, 404],
  [`/threads/${id}.json`, 404],
  [`/THREADS/${id}`, 404],
  [`/threads/${id.replaceAll("-", "%2D")}`, 404],
  [`/threads/${id.replace("0", "%EF%BC%90")}`, 404],
  [`/threads/${id.replaceAll("-", "")}`, 404],
  [`/threads/{${id}}`, 404],
  [`/threads/${id}%c0%af`, 404],
  [`/threads/${id}%`, 404],
  [`/threads/${id}%zz`, 404],
  [`/threads/${"a".repeat(5000)}`, 404],
  [`http://localhost/threads/${id}`, 404],
  [`/assistants/agent%2F..%2Fagent`, 404],
  [`/assistants/%61gent`, 404],
  [`/assistants/${"a".repeat(2000)}`, 404],
  [`/threads/${id}?x=../..`, 200],
];

for (const [path, status] of TRICKS) {
  const shown = path.replaceAll(new RegExp(id, "gi"), "…").slice(0, 60);
  test(`GET ${shown} is ${status}, for the tenant and never for another (identity.5)`, async () => {
    assert.equal((await raw(server, { path, headers: as("ann") })).status, status);
    assert.equal((await raw(server, { path, headers: as("bob") })).status, 404);
    const { status: outside } = await raw(server, { path });
    assert.ok(outside === 401 || outside === 404, `${outside} without credentials`);
  });
}
