// Tests of failures in a graph and in a request.
// Rules:
//   project/errors.1. The caller of a failed run gets 200 with `__error__`; the thread has status error, and stays
//        usable.
//   project/errors.2. A retry policy loses no answer.
//   project/errors.3. A bad request gets the status and code of docs/reference/errors.md, with the field's name;
//        nothing changes.
//   project/errors.4. Data stays data: hostile keys, odd texts and objects that look like tags read back unchanged.
//   project/errors.5. A request cannot set the server's own keys.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { raw } from "../harness/raw.ts";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { newNotes, newThread, onlyQuestion, readProblem, type WireProblem } from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const BODY_BYTES_MAX = 65_536;

const [server, hasty] = await Promise.all([
  startServerHere({ env: { HOLDPOINT_MAX_BODY_BYTES: String(BODY_BYTES_MAX) } }),
  startServerHere({ env: { BG_JOB_TIMEOUT_SECS: "1" } }),
]);
const folder = temporaryFolder();
after(async () => {
  await Promise.all([server.stop(), hasty.stop()]);
  for (const path of [server.dataDir, hasty.dataDir, folder]) removeFolder(path);
});

// Failing graphs (project/errors.1).

const FAILURES: readonly {
  readonly graph: string;
  readonly error: string;
  readonly message: RegExp;
  readonly endedBy?: string;
  readonly on?: ServerHere;
  /** The thread's state afterwards. */
  readonly values: object;
}[] = [
  { graph: "failing", error: "NodeFault", message: /^this node always fails$/, values: { result: "kept" } },
  { graph: "throwing", error: "NodeFault", message: /^thrown at once$/, values: {} },
  { graph: "throwing_edge", error: "NodeFault", message: /^thrown by the edge$/, values: {} },
  { graph: "throwing_graph", error: "NodeFault", message: /^thrown by stream\(\)$/, values: {} },
  { graph: "endless", error: "GraphRecursionError", message: /Recursion limit of 25/, values: {} },
  {
    graph: "unserialisable",
    error: "state_not_serialisable",
    message: /a function at result\.deep\.1\.callback cannot be stored/,
    values: {},
  },
  { graph: "hanging", error: "Timeout", message: /BG_JOB_TIMEOUT_SECS/, endedBy: "timeout", on: hasty, values: {} },
];

for (const { graph, error, message, endedBy = "failure", on = server, values } of FAILURES) {
  test(`${graph}: the caller gets the error, and the thread stays usable (project/errors.1)`, PATIENCE, async () => {
    const thread = await newThread(on, graph);
    const result = await thread.run({ input: { failures: 0 } });
    assert.deepEqual(Object.keys(result), ["__error__"]);
    assert.equal(result.__error__?.error, error);
    assert.match(result.__error__.message, message);
    const [run] = await thread.runs();
    assert.ok(run);
    assert.deepEqual([run.status, run.ended_by], [endedBy === "timeout" ? "timeout" : "error", endedBy]);
    assert.deepEqual(await thread.join(run), result, "a late join tells the same");
    const shown = await thread.get();
    assert.equal(shown.status, "error");
    assert.deepEqual(shown.error, result.__error__);
    for (const [channel, value] of Object.entries(values)) assert.deepEqual(shown.values?.[channel], value);

    const again = await thread.run({ input: { calm: true } });
    assert.equal(again.__error__, undefined, JSON.stringify(again));
    const rested = await thread.get();
    assert.deepEqual([rested.status, rested.error], ["idle", undefined]);
  });
}

test(
  "input null after a failure runs the failed node again, and nothing before it (project/errors.1)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "failing");
    const notes = newNotes(folder);
    await thread.run({ input: { notes: notes.notes } });
    const update = await call(server, "POST", `${thread.path}/state`, { values: { calm: true }, as_node: "before" });
    assert.equal(update.status, 200, update.text);
    const result = await thread.run({ input: null });
    assert.equal(result["result"], "calm");
    assert.equal(notes.count("fails"), 2);
  },
);

test("the recursion limit can be set by the call", PATIENCE, async () => {
  const thread = await newThread(server, "endless");
  const result = await thread.run({ input: {}, config: { recursion_limit: 7 } });
  assert.match(result.__error__?.message ?? "", /Recursion limit of 7/);
});

test(
  "a value that cannot be stored stops its run before the next node starts, and no other run",
  PATIENCE,
  async () => {
    const [thread, other] = [await newThread(server, "unserialisable"), await newThread(server, "slow")];
    const notes = newNotes(folder);
    const [bad, good] = await Promise.all([
      thread.run({ input: { notes: notes.notes } }),
      other.run({ input: { waitMs: 100 } }),
    ]);
    assert.equal(bad.__error__?.error, "state_not_serialisable");
    assert.equal(good["result"], "whole");
    assert.deepEqual(notes.lines(), ["writes"]);
  },
);

for (const failures of [0, 1, 2]) {
  test(
    `a node that fails ${failures} times after its answer gets it again each time (project/errors.2)`,
    PATIENCE,
    async () => {
      const thread = await newThread(server, "retried_after_answer");
      const notes = newNotes(folder);
      onlyQuestion(await thread.run({ input: { notes: notes.notes, failures } }));
      const result = await thread.resume({ decision: "go" });
      assert.deepEqual(result["result"], { decision: "go" });
      assert.equal(notes.count('answered {"decision":"go"}'), failures + 1);
      assert.equal((await thread.get()).status, "idle");
    },
  );
}

test(
  "a node that always fails after its answer ends its run with its own error (project/errors.2)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "retried_after_answer");
    const notes = newNotes(folder);
    const question = onlyQuestion(await thread.run({ input: { notes: notes.notes, failures: 99 } }));
    const result = await thread.resume("go");
    assert.equal(result.__error__?.error, "NodeFault"); // on 1.4 the library forgets the answer: answer_not_used
    assert.equal(notes.count("failed"), 3);
    assert.deepEqual(
      (await thread.open()).map(({ id }) => id),
      [question.id],
    ); // asked again
    const again = await thread.run({ command: { resume: { [question.id]: "go" }, update: { failures: 0 } } });
    assert.equal(again.__error__, undefined);
  },
);

// Bad requests (project/errors.3).

function checkProblem(answer: { readonly status: number; readonly text: string }, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  const problem = JSON.parse(answer.text) as WireProblem;
  assert.deepEqual([problem.status, problem.code], [status, code]);
  assert.ok(problem.title.length > 0 && problem.detail.length > 0 && problem.type.length > 0);
}

const { path: someThread } = await newThread(server, "steps");

const MALFORMED: readonly { readonly name: string; readonly body: string | Buffer }[] = [
  { name: "an open brace", body: "{" },
  { name: "half a word", body: '{"metadata": nul}' },
  { name: "two values", body: "{} {}" },
  { name: "a comma too many", body: '{"metadata": {},}' },
  { name: "single quotes", body: "{'metadata': {}}" },
  { name: "bytes that are not UTF-8", body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
  { name: "UTF-16", body: Buffer.from('{"metadata":{}}', "utf16le") },
];

for (const { name, body } of MALFORMED) {
  test(`a body of ${name} is malformed JSON (project/errors.3)`, async () => {
    const answer = await raw(server, { path: "/threads", body });
    checkProblem(answer, 400, "malformed_json");
    assert.match(answer.headers["content-type"] ?? "", /^application\/problem\+json/);
  });
}

const run = (fields: object) => ({ assistant_id: "steps", input: {}, ...fields });

const WRONG: readonly [method: string, path: string, body: unknown, field: string][] = [
  ["POST", "/threads", { thread_id: "../etc" }, "thread_id"],
  ["POST", "/threads", { thread_id: 7 }, "thread_id"],
  ["POST", "/threads", { metadata: "text" }, "metadata"],
  ["POST", "/threads", { if_exists: "maybe" }, "if_exists"],
  ["POST", "/threads", { ttl: -1 }, "ttl"],
  ["POST", "/threads", [], ""],
  ["POST", "/threads/search", { limit: 0 }, "limit"],
  ["POST", "/threads/search", { limit: 1001 }, "limit"],
  ["POST", "/threads/search", { offset: -1 }, "offset"],
  ["POST", "/threads/search", { status: "paused" }, "status"],
  ["POST", "/threads/search", { ids: ["1"] }, "ids.0"],
  ["POST", "/threads/search", { sort_by: "metadata; DROP TABLE threads" }, "sort_by"],
  ["POST", "/threads/search", { select: ["secret"] }, "select.0"],
  ["POST", "/threads/count", { values: [] }, "values"],
  ["PATCH", someThread, { metadata: 1 }, "metadata"],
  ["POST", `${someThread}/runs`, { input: {} }, "assistant_id"],
  ["POST", `${someThread}/runs`, run({ assistant_id: "" }), "assistant_id"],
  ["POST", `${someThread}/runs`, run({ command: "resume" }), "command"],
  ["POST", `${someThread}/runs`, run({ checkpoint_id: "latest" }), "checkpoint_id"],
  ["POST", `${someThread}/runs`, run({ checkpoint: { checkpoint_id: 1 } }), "checkpoint.checkpoint_id"],
  ["POST", `${someThread}/runs`, run({ config: { recursion_limit: "many" } }), "config.recursion_limit"],
  ["POST", `${someThread}/runs`, run({ config: { configurable: [] } }), "config.configurable"],
  ["POST", `${someThread}/runs/wait`, run({ interrupt_before: "node_a" }), "interrupt_before"],
  ["POST", `${someThread}/runs/wait`, run({ interrupt_after: [1] }), "interrupt_after"],
  ["POST", `${someThread}/runs/wait`, run({ multitask_strategy: "both" }), "multitask_strategy"],
  ["POST", `${someThread}/runs/wait`, run({ durability: "none" }), "durability"],
  ["POST", `${someThread}/runs/wait`, run({ webhook: 5 }), "webhook"],
  ["POST", `${someThread}/state`, { as_node: 1 }, "as_node"],
  ["POST", `${someThread}/history`, { before: "yesterday" }, "before"],
  ["POST", `${someThread}/state/checkpoint`, {}, "checkpoint"],
  ["GET", `${someThread}/history?limit=none`, undefined, "limit"],
  ["GET", `${someThread}/runs?status=paused`, undefined, "status"],
  ["GET", `${someThread}/state?subgraphs=perhaps`, undefined, "subgraphs"],
];

for (const [method, path, body, field] of WRONG) {
  const at = path.replace(someThread, "/threads/…");
  test(`${method} ${at} with ${JSON.stringify(body)} names ${field === "" ? "the body" : field} (project/errors.3)`, async () => {
    const answer = await call(server, method, path, body);
    checkProblem(answer, 422, "invalid_request");
    assert.ok(
      (readProblem(answer).errors ?? []).some((error) => error.path === field || field === ""),
      answer.text,
    );
    assert.ok(readProblem(answer).detail.includes(field), answer.text);
  });
}

/** Paths with these have two readings, or none: they match no route. */
const NO_PATHS = [
  "..",
  "%2e%2e",
  "%2E%2E%2F",
  "a%2Fb",
  "a%5Cb",
  "%00",
  "%",
  "%ff",
  "%c0%af",
  "a".repeat(5000),
  "01a1fd86-6ea5-7341-90d3-f2766ddd56ff%00",
  "%301a1fd86-6ea5-7341-90d3-f2766ddd56ff",
];
const ODD_IDS = [
  ...NO_PATHS,
  "x",
  "1",
  "null",
  "01a1fd86-6ea5-7341-90d3-f2766ddd56f",
  "01a1fd86-6ea5-7341-90d3-f2766ddd56fff",
  "01a1fd86-6ea5-7341-90d3-f2766ddd56ff%20",
  "%EF%BC%90%EF%BC%911fd86-6ea5-7341-90d3-f2766ddd56ff",
  "'%20OR%201=1--",
  "01a1fd86-6ea5-7341-90d3-f2766ddd56ff",
];

for (const id of ODD_IDS) {
  test(`an id of ${id.length > 60 ? `${id.length} letters` : id} in a path is unknown, at any position (project/errors.3)`, async () => {
    const paths: readonly [method: string, path: string, code: string][] = [
      ["GET", `/threads/${id}`, "thread_not_found"],
      ["PATCH", `/threads/${id}`, "thread_not_found"],
      ["DELETE", `/threads/${id}`, "thread_not_found"],
      ["POST", `/threads/${id}/copy`, "thread_not_found"],
      ["GET", `/threads/${id}/state`, "thread_not_found"],
      ["GET", `/threads/${id}/history`, "thread_not_found"],
      ["POST", `/threads/${id}/runs/wait`, "thread_not_found"],
      ["GET", `${someThread}/state/${id}`, "checkpoint_not_found"],
      ["GET", `${someThread}/runs/${id}`, "run_not_found"],
      ["GET", `${someThread}/runs/${id}/join`, "run_not_found"],
      ["POST", `${someThread}/runs/${id}/cancel`, "run_not_found"],
      ["DELETE", `${someThread}/runs/${id}`, "run_not_found"],
      ["GET", `/assistants/${id}`, "assistant_not_found"],
    ];
    for (const [method, path, code] of paths) {
      const body = method === "POST" || method === "PATCH" ? { body: JSON.stringify(run({})) } : {};
      checkProblem(await raw(server, { method, path, ...body }), 404, NO_PATHS.includes(id) ? "not_found" : code);
    }
  });
}

test("an id in upper case is the same id", async () => {
  const { thread_id: id }: { thread_id: string } = (await call(server, "GET", someThread)).body;
  assert.equal((await call(server, "GET", `/threads/${id.toUpperCase()}`)).status, 200);
});

test("an address that nothing serves, and a method that an address does not take (project/errors.3)", async () => {
  checkProblem(await call(server, "GET", "/threads/x/y/z"), 404, "not_found");
  checkProblem(await call(server, "GET", "//threads"), 404, "not_found");
  const answer = await call(server, "PUT", "/threads/search");
  checkProblem(answer, 405, "method_not_allowed");
  assert.match(answer.headers.get("allow") ?? "", /POST/);
});

/** A body of exactly so many bytes. */
function fillBody(bytes: number): string {
  const frame = JSON.stringify({ metadata: { fill: "" } });
  return frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`);
}

for (const [how, send] of [
  ["in one piece", (text: string) => text],
  ["in chunks", (text: string) => text.match(/.{1,10000}/gs) ?? []],
] as const) {
  test(`a body of the largest size is read, one byte more is not: ${how} (project/errors.3)`, async () => {
    assert.equal((await raw(server, { path: "/threads", body: send(fillBody(BODY_BYTES_MAX)) })).status, 200);
    const answer = await raw(server, { path: "/threads", body: send(fillBody(BODY_BYTES_MAX + 1)) });
    checkProblem(answer, 413, "body_too_large");
  });
}

/** So many levels: objects and lists in turn. */
const nested = (levels: number): unknown =>
  levels === 0 ? "bottom" : levels % 2 === 0 ? [nested(levels - 1)] : { in: nested(levels - 1) };

test("a body of 500 levels comes back as it was, one of 501 is refused (project/errors.3)", async () => {
  const thread = await newThread(server, "keeper");
  const deepest = nested(498); // within the body and its input
  assert.deepEqual((await thread.run({ input: { value: deepest } }))["value"], deepest);
  assert.deepEqual((await thread.state()).values["value"], deepest);
  const before = await thread.picture();
  checkProblem(await thread.wait({ input: { value: nested(499) } }), 422, "body_too_deep");
  checkProblem(
    await raw(server, { path: "/threads", body: "[".repeat(30_000) + "]".repeat(30_000) }),
    422,
    "body_too_deep",
  );
  assert.deepEqual(await thread.picture(), before);
});

test("a body must be JSON by its media type too (project/errors.3)", async () => {
  const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", ""];
  for (const type of types) {
    const answer = await raw(server, { path: "/threads", body: "{}", headers: { "content-type": type } });
    checkProblem(answer, 415, "unsupported_media_type");
  }
  for (const type of ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"]) {
    const answer = await raw(server, { path: "/threads", body: "{}", headers: { "content-type": type } });
    assert.equal(answer.status, 200, type);
  }
  const packed = await raw(server, { path: "/threads", body: "{}", headers: { "content-encoding": "gzip" } });
  checkProblem(packed, 415, "unsupported_media_type");
});

// Data stays data (project/errors.4). JSON text, because `__proto__` has another meaning in an object literal.

const DATA: readonly { readonly name: string; readonly json: string }[] = [
  { name: "__proto__ as a key", json: '{"__proto__":{"polluted":true},"a":1}' },
  { name: "__proto__ deep inside", json: '[{"x":{"__proto__":{"polluted":true}}}]' },
  { name: "constructor and prototype as keys", json: '{"constructor":{"prototype":{"polluted":true}}}' },
  { name: "names of methods as keys", json: '{"toString":1,"hasOwnProperty":2,"then":3,"length":4}' },
  { name: "toJSON as a key", json: '{"toJSON":"text","toJSON2":{"toJSON":1}}' },
  { name: "NUL in text and in a key", json: '{"a\\u0000b":"c\\u0000d"}' },
  { name: "lone surrogates", json: '{"\\ud800":"\\udfff and \\ud83d"}' },
  { name: "line separators", json: '"\\u2028\\u2029\\ufeff"' },
  {
    name: "a constructor by another library's marker",
    json: '{"lc":1,"type":"constructor","id":["langchain","x"],"kwargs":{}}',
  },
  { name: "a secret by that marker", json: '{"lc":1,"type":"secret","id":["PATH"]}' },
  {
    name: "a message by that marker",
    json: '{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"x"}}',
  },
  { name: "our own tag", json: '{"$hp":"date","v":0}' },
  { name: "our own tag of an unknown type, inside", json: '[{"$hp":"function","v":"process.exit(1)"},{"$hp":null}]' },
  { name: "our own tag around another", json: '{"$hp":"object","v":[["$hp",{"$hp":"map","v":[]}]]}' },
  { name: "numbers at the edges", json: "[0,1e-7,1.7976931348623157e308,5e-324,9007199254740991,-0.1]" },
  { name: "keys that are numbers", json: '{"2":"b","1":"a","01":"c"}' },
  { name: "an empty key", json: '{"":{"":[]}}' },
  { name: "a big text", json: JSON.stringify("ä".repeat(10_000)) },
];

suite("data comes back as it was (project/errors.4)", () => {
  for (const { name, json } of DATA) {
    const value: unknown = JSON.parse(json);
    const text = JSON.stringify(value);
    const has = (answer: { readonly status: number; readonly text: string }, member: string): void => {
      assert.equal(answer.status, 200, answer.text);
      assert.ok(
        answer.text.includes(`"${member}":${text}`),
        `${member} is not ${text} in ${answer.text.slice(0, 500)}`,
      );
    };
    test(`${name}: input, state and history`, async () => {
      const { path } = await newThread(server, "keeper");
      const body = `{"assistant_id":"keeper","input":{"value":${json}}}`;
      const result = await raw(server, { path: `${path}/runs/wait`, body });
      has(result, "value");
      assert.ok(result.text.includes('"polluted":false'));
      for (const at of ["", "/state", "/history"]) has(await raw(server, { path: `${path}${at}` }), "value");
      has(await raw(server, { path: `${path}/runs` }), "value");
      const update = await raw(server, {
        path: `${path}/state`,
        body: `{"values":{"value":[${json}]},"as_node":"keep"}`,
      });
      assert.equal(update.status, 200, update.text);
      const state = await raw(server, { path: `${path}/state` });
      assert.ok(state.text.includes(`"value":[${text}]`), state.text);
    });
    test(`${name}: question and answer`, async () => {
      const { path } = await newThread(server, "echo");
      const asked = await raw(server, {
        path: `${path}/runs/wait`,
        body: `{"assistant_id":"echo","input":{"payload":${json}}}`,
      });
      has(asked, "value");
      has(await raw(server, { path }), "value");
      const answered = await raw(server, {
        path: `${path}/runs/wait`,
        body: `{"assistant_id":"echo","command":{"resume":${json}}}`,
      });
      assert.ok(answered.text.includes(`"answer":[${text}]`), answered.text);
    });
    test(`${name}: metadata, kept and found`, async () => {
      const created = await raw(server, { path: "/threads", body: `{"metadata":{"datum":${json}}}` });
      has(created, "datum");
      const found = await raw(server, { path: "/threads/search", body: `{"metadata":{"datum":${json}}}` });
      has(found, "datum");
    });
  }
});

test("metadata of hostile names is kept at the top too (project/errors.4)", async () => {
  const json = '{"__proto__":{"polluted":true},"constructor":1,"a.b[0]\\"c":"x","$":"y"}';
  const created = await raw(server, { path: "/threads", body: `{"metadata":${json}}` });
  assert.ok(created.text.includes(JSON.stringify(JSON.parse(json))), created.text);
  const found = await raw(server, { path: "/threads/search", body: '{"metadata":{"a.b[0]\\"c":"x","$":"y"}}' });
  assert.equal((JSON.parse(found.text) as unknown[]).length, 1);
});

// The server's own keys (project/errors.5).

test("names that the server owns are ignored in configurable; others reach the node (project/errors.5)", async () => {
  const thread = await newThread(server, "keeper");
  const evil = {
    thread_id: "evil",
    run_id: "evil",
    assistant_id: "evil",
    graph_id: "evil",
    checkpoint_id: "evil",
    checkpoint_ns: "evil",
    checkpoint_map: { "": "evil" },
    thread_ts: "evil",
    run_attempt: 99,
    idempotency_key: "evil",
    langgraph_auth_user: { identity: "evil" },
    langgraph_auth_user_id: "evil",
    __pregel_checkpointer: "evil",
    __pregel_resuming: "evil",
    __pregel_scratchpad: "evil",
  };
  const body = {
    input: {},
    config: { configurable: { ...evil, tone: "kind", user_id: "ann" } },
    metadata: { run_id: "evil" },
  };
  const result = await thread.run(body, { "x-thread-id": "evil", "x-run-id": "evil" });
  const seen = result["seen"] as Record<string, unknown>;
  assert.equal(seen["thread_id"], thread.threadId);
  assert.equal(seen["run_id"], (await thread.runs())[0]?.run_id);
  assert.deepEqual(
    [seen["tone"], seen["user_id"], seen["run_attempt"], seen["graph_id"]],
    ["kind", "ann", 1, "keeper"],
  );
  assert.doesNotMatch(JSON.stringify(seen), /evil/);
  for (const { metadata } of await thread.history()) assert.doesNotMatch(JSON.stringify(metadata), /evil/);
});

// The document.

const ROUTES = [
  "DELETE /assistants/{assistant_id}",
  "DELETE /store/items",
  "DELETE /threads/{thread_id}",
  "DELETE /threads/{thread_id}/runs/{run_id}",
  "GET /assistants/{assistant_id}",
  "GET /assistants/{assistant_id}/graph",
  "GET /assistants/{assistant_id}/schemas",
  "GET /assistants/{assistant_id}/subgraphs",
  "GET /assistants/{assistant_id}/subgraphs/{namespace}",
  "GET /inbox",
  "GET /inbox/events",
  "GET /inbox/{thread_id}/{interrupt_id}",
  "GET /info",
  "GET /live",
  "GET /metrics",
  "GET /ok",
  "GET /openapi.json",
  "GET /ready",
  "GET /runs/{run_id}",
  "GET /runs/{run_id}/join",
  "GET /runs/{run_id}/stream",
  "GET /store/items",
  "GET /threads/{thread_id}",
  "GET /threads/{thread_id}/audit",
  "GET /threads/{thread_id}/history",
  "GET /threads/{thread_id}/runs",
  "GET /threads/{thread_id}/runs/{run_id}",
  "GET /threads/{thread_id}/runs/{run_id}/join",
  "GET /threads/{thread_id}/runs/{run_id}/stream",
  "GET /threads/{thread_id}/state",
  "GET /threads/{thread_id}/state/{checkpoint_id}",
  "GET /threads/{thread_id}/stream",
  "PATCH /assistants/{assistant_id}",
  "PATCH /threads/{thread_id}",
  "PATCH /threads/{thread_id}/state",
  "POST /assistants",
  "POST /assistants/count",
  "POST /assistants/search",
  "POST /assistants/{assistant_id}/latest",
  "POST /assistants/{assistant_id}/versions",
  "POST /inbox/answers",
  "POST /inbox/{thread_id}/{interrupt_id}/claim",
  "POST /inbox/{thread_id}/{interrupt_id}/release",
  "POST /runs",
  "POST /runs/batch",
  "POST /runs/cancel",
  "POST /runs/stream",
  "POST /runs/wait",
  "POST /store/items/search",
  "POST /store/namespaces",
  "POST /threads",
  "POST /threads/count",
  "POST /threads/prune",
  "POST /threads/search",
  "POST /threads/{thread_id}/copy",
  "POST /threads/{thread_id}/history",
  "POST /threads/{thread_id}/runs",
  "POST /threads/{thread_id}/runs/stream",
  "POST /threads/{thread_id}/runs/wait",
  "POST /threads/{thread_id}/runs/{run_id}/cancel",
  "POST /threads/{thread_id}/state",
  "POST /threads/{thread_id}/state/checkpoint",
  "PUT /store/items",
];

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly responses: object; readonly parameters: readonly { readonly name: string; readonly in: string }[] }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

test("the OpenAPI document lists every route, and each of them is served", async () => {
  const document: OpenApi = (await call(server, "GET", "/openapi.json")).body;
  assert.match(document.openapi, /^3\.1/);
  const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(
    ROUTES.filter((route) => !listed.includes(route)),
    [],
  );
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { parameters, responses }] of Object.entries(methods)) {
      const inPath = parameters.filter((one) => one.in === "path").map(({ name }) => `{${name}}`);
      assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? []);
      assert.ok(Object.keys(responses).some((status) => status.startsWith("2") || status === "101"));
      const answer = await fetch(server.url + path.replaceAll(/\{\w+\}/g, "x"), { method: method.toUpperCase() });
      if (answer.ok) await answer.body?.cancel(); // some streams never end
      else assert.doesNotMatch(await answer.text(), /"code":"(?:not_found|method_not_allowed)"/, `${method} ${path}`);
    }
  }
  for (const [, reference = ""] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
    const name = reference.replace("#/components/schemas/", "");
    assert.ok(name in document.components.schemas, `${reference} leads nowhere`);
  }
});

test("after all this the server is healthy, and has logged no defect", async () => {
  const answers: readonly Answer[] = [await call(server, "GET", "/ok"), await call(server, "GET", "/ready")];
  for (const { status } of answers) assert.equal(status, 200);
  const defects = server.logs.filter(({ event }) => event === "request_failed" || event === "unhandled_rejection");
  assert.deepEqual(defects, []);
});
