// Tests of special rights, which handlers can deny to callers with all other rights.
// Rules:
//   rights.1. Disabling compiled breakpoints needs `threads:bypass`, on every call that can; the audit trail has it.
//   rights.2. So does an edit in the name of a node, during a pause or at an older checkpoint, with an entry in the
//        audit trail.
//   rights.5. So does a command that goes to a node during a pause, on every call that can.
//   rights.3. An edit or a command that bypasses nothing needs no special right.
//   rights.4. A default answer, review rules and `on_paused` in an assistant's metadata need `assistants:administrate`,
//        which no other handler can grant.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { call, removeFolder, ROOT, type Answer } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { readProblem } from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const server = await startServerHere({ config: join(ROOT, "test", "graphs", "rights", "langgraph.json") });
const tenants = await startServerHere({ config: join(ROOT, "test", "graphs", "tenants", "langgraph.json") });
after(async () => {
  for (const one of [server, tenants]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

const post = (as: string, path: string, body: unknown, method = "POST"): Promise<Answer> =>
  call(server, method, path, body, { authorization: `Bearer ${as}` });

async function newThread(): Promise<string> {
  return `/threads/${String((await post("ann", "/threads", {})).body["thread_id"])}`;
}

async function readTrail(path: string) {
  const { items } = (await call(server, "GET", `${path}/audit`, undefined, { authorization: "Bearer ann" })).body as {
    readonly items: readonly { readonly action: string; readonly by: string; readonly value: unknown }[];
  };
  return items.map(({ action, by, value }) => [action, by, value]);
}

function assertForbidden(answer: Answer, what: string): void {
  assert.deepEqual([answer.status, readProblem(answer).code], [403, "forbidden"], `${what}: ${answer.text}`);
}

const COMPILED = { assistant_id: "compiled", input: { visited: [] } };

test("compiled breakpoints are switched off only with the right (rights.1)", PATIENCE, async () => {
  for (const off of [{ interrupt_before: [] }, { interrupt_before: ["node_c"] }]) {
    const path = await newThread();
    const body = { ...COMPILED, ...off };
    for (const at of [`${path}/runs`, `${path}/runs/wait`, `${path}/runs/stream`, "/runs/wait", "/runs"]) {
      assertForbidden(await post("ann", at, body), at);
    }
    assertForbidden(await post("ann", "/runs/batch", [COMPILED, body]), "batch");
    const schedule = "0 0 1 1 *";
    assertForbidden(await post("ann", "/runs/crons", { ...body, schedule }), "cron");
    const cron = await post("ann", "/runs/crons", { ...COMPILED, schedule });
    assertForbidden(await post("ann", `/runs/crons/${String(cron.body["cron_id"])}`, off, "PATCH"), "cron, changed");
    const made = await post("ann", "/assistants", { graph_id: "compiled" });
    const own = { ...body, assistant_id: made.body["assistant_id"] };
    assertForbidden(await post("ann", `${path}/runs/wait`, own), "an assistant of one's own");
    assert.deepEqual(await readTrail(path), []);
    assert.equal((await post("admin", `${path}/runs/wait`, body)).status, 200);
    assert.deepEqual(await readTrail(path), [["breakpoints_off", "admin", ["before:node_b"]]]);
  }
});

test("lists that switch nothing off ask for nothing (rights.3)", PATIENCE, async () => {
  for (const body of [
    COMPILED,
    { ...COMPILED, interrupt_before: ["node_b", "node_c"] },
    { ...COMPILED, interrupt_before: "*" },
    { ...COMPILED, interrupt_after: [] },
    { assistant_id: "echo", input: {}, interrupt_before: [] },
  ]) {
    const path = await newThread();
    assert.equal((await post("ann", `${path}/runs/wait`, body)).status, 200, JSON.stringify(body));
    assert.deepEqual(await readTrail(path), []);
  }
});

test("an edit as a node that bypasses the interrupt needs the right (rights.2)", PATIENCE, async () => {
  for (const [assistant, node] of [
    ["echo", "ask"],
    ["compiled", "node_b"],
  ] as const) {
    const path = await newThread();
    await post("ann", `${path}/runs/wait`, { ...COMPILED, assistant_id: assistant });
    const at = (await post("ann", `${path}/state`, undefined, "GET")).body["checkpoint"]["checkpoint_id"];
    const edit = { values: {}, as_node: node };
    assertForbidden(await post("ann", `${path}/state`, edit), assistant);
    assert.equal((await post("admin", `${path}/state`, edit)).status, 200);
    assert.deepEqual(await readTrail(path), [["bypassed", "admin", node]]);
    assertForbidden(await post("ann", `${path}/state`, { ...edit, checkpoint_id: at }), "at the older checkpoint");
  }
});

const GOES: readonly (readonly [form: string, command: object])[] = [
  ["a name", { goto: "ask" }],
  ["a list", { goto: ["ask", "__end__"] }],
  ["an object", { goto: { node: "ask", input: {} } }],
  ["with an update", { goto: "ask", update: { payload: 1 } }],
];

for (const [form, command] of GOES) {
  test(`a command that goes to a node of a paused thread needs the right: ${form} (rights.5)`, PATIENCE, async () => {
    const path = await newThread();
    const body = { assistant_id: "echo", command };
    await post("ann", `${path}/runs/wait`, { assistant_id: "echo", input: {} });
    for (const at of ["runs", "runs/wait", "runs/stream"])
      assertForbidden(await post("ann", `${path}/${at}`, body), at);
    const overProtocol = { id: 1, method: "run.start", params: { ...body, input: null } };
    await post("ann", `${path}/commands`, overProtocol);
    assert.deepEqual(await readTrail(path), []);
    assert.equal((await post("admin", `${path}/runs/wait`, body)).status, 200);
    const trail = (await readTrail(path)).filter(([action]) => action !== "abandoned"); // another payload, another question
    assert.deepEqual(trail, [["bypassed", "admin", "ask"]]);
  });
}

test("an answer that also goes to a node needs the right (rights.5)", PATIENCE, async () => {
  const path = await newThread();
  await post("ann", `${path}/runs/wait`, { assistant_id: "echo", input: {} });
  const body = { assistant_id: "echo", command: { resume: "yes", goto: "ask" } };
  assertForbidden(await post("ann", `${path}/runs/wait`, body), "answer");
  assert.equal((await post("admin", `${path}/runs/wait`, body)).status, 200);
  assert.deepEqual(await readTrail(path), [["answered", "admin", "yes"]]);
});

test("a command that goes past a breakpoint needs the right (rights.5)", PATIENCE, async () => {
  const path = await newThread();
  await post("ann", `${path}/runs/wait`, COMPILED);
  const body = { assistant_id: "compiled", command: { goto: "node_c" } };
  assertForbidden(await post("ann", `${path}/runs/wait`, body), "breakpoint");
  assert.equal((await post("admin", `${path}/runs/wait`, body)).status, 200);
  assert.deepEqual((await readTrail(path))[0], ["bypassed", "admin", "node_c"]);
});

test(
  "a command that goes nowhere else, or on a thread that does not wait, needs no right (rights.3)",
  PATIENCE,
  async () => {
    const path = await newThread();
    await post("ann", `${path}/runs/wait`, { assistant_id: "echo", input: {} });
    const end = { assistant_id: "echo", command: { goto: "__end__" } };
    assert.equal((await post("ann", `${path}/runs/wait`, end)).status, 200);
    assert.deepEqual(await readTrail(path), [["abandoned", "ann", null]]);
    const go = { assistant_id: "echo", command: { goto: "ask" } };
    assert.equal((await post("ann", `${path}/runs/wait`, go)).status, 200);
  },
);

test("ending a thread, or editing one that does not wait, needs no right (rights.3)", PATIENCE, async () => {
  const path = await newThread();
  await post("ann", `${path}/runs/wait`, { assistant_id: "echo", input: {} });
  assert.equal((await post("ann", `${path}/state`, { values: null, as_node: "__end__" })).status, 200);
  assert.deepEqual(await readTrail(path), [["abandoned", "ann", "__end__"]]);
  assert.equal((await post("ann", `${path}/state`, { values: { payload: 1 }, as_node: "ask" })).status, 200);
});

const DECIDING: readonly Readonly<Record<string, unknown>>[] = [
  { interrupt_review: { approvals: 1 } },
  ...["answer", "abandon", "reject", "enqueue"].map((one) => ({ on_paused: one })),
];

for (const metadata of DECIDING)
  test(`${JSON.stringify(metadata)} of an assistant needs a separate right (rights.4)`, PATIENCE, async () => {
    assertForbidden(await post("ann", "/assistants", { graph_id: "echo", metadata }), "made");
    const made = await post("ann", "/assistants", { graph_id: "echo" });
    const path = `/assistants/${String(made.body["assistant_id"])}`;
    assertForbidden(await post("ann", path, { metadata }, "PATCH"), "changed");
    assert.equal((await post("admin", path, { metadata }, "PATCH")).status, 200);
    assertForbidden(await post("ann", `${path}/latest`, { version: 1 }), "restored");
    assertForbidden(await post("ann", path, undefined, "DELETE"), "deleted");
  });

test("a default answer in an assistant's metadata needs a separate right (rights.4)", PATIENCE, async () => {
  const deadline = (onExpiry: unknown) => ({ interrupt_deadline: { expires_in_seconds: 60, on_expiry: onExpiry } });
  const body = { graph_id: "echo", metadata: deadline({ answer: "approved" }) };
  assertForbidden(await post("ann", "/assistants", body), "made");
  const made = await post("ann", "/assistants", { graph_id: "echo", metadata: deadline("fail") });
  assert.equal(made.status, 200);
  const path = `/assistants/${String(made.body["assistant_id"])}`;
  assertForbidden(await post("ann", path, { metadata: body.metadata }, "PATCH"), "changed");
  assert.equal((await post("admin", path, { metadata: body.metadata }, "PATCH")).status, 200);
  const other = await call(
    tenants,
    "POST",
    "/assistants",
    { ...body, graph_id: "whoami" },
    { authorization: "Bearer token-ann" },
  );
  assertForbidden(other, "a handler for all else does not allow it");
});
