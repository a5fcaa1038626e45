// Tests of requests: questions of programs, over HTTP. Kills are in test/faults/agent-requests.test.ts.
// Rules:
//   requests.1. One Idempotency-Key is one request, also for calls at the same time; another body is refused.
//   requests.2. Each request ends once: answered, expired or cancelled. Whoever comes second learns how it ended.
//   requests.3. A request is an inbox item like any other.
//   requests.4. Its thread takes an answer or a cancellation, and nothing else.
//   requests.5. A key limited to requests reaches its own requests, and nothing else.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startWebhookReceiver } from "../fakes/webhook-receiver.ts";
import { answer as answerItem, readAudit, readItems } from "../harness/inbox.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, type Answer } from "../harness/server.ts";

const KEYS =
  "root:root-key,ci:ci-key:requester,bot:bot-key:requester,ann:ann-key:reviewer,vic:vic-key:viewer,ben:ben-key:reviewer";
const folder = mkdtempSync(join(tmpdir(), "holdpoint-requests-"));
const config = join(folder, "langgraph.json");
const webhooks = { url: { require_https: false, allowed_networks: ["127.0.0.1"] } };
const graphs = { hanging: `${join(ROOT, "test/graphs/failures.ts")}:hanging` };
writeFileSync(config, JSON.stringify({ graphs, webhooks }));
const receiver = await startWebhookReceiver();
const server = await startServerHere({ config, env: { HOLDPOINT_WEBHOOK_SECRET: "secret", N_JOBS_PER_WORKER: "1" } });
const keyed = await startServerHere({ env: { HOLDPOINT_API_KEYS: KEYS } });
after(async () => {
  for (const one of [server, keyed]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
  await receiver.close();
  removeFolder(folder);
});

interface WireRequest {
  readonly request_id: string;
  readonly interrupt_id: string;
  readonly status: string;
  readonly [member: string]: unknown;
}

type Headers = Record<string, string>;

async function ask(body: object, headers: Headers = {}, status = 201, on = server): Promise<WireRequest> {
  const reply = await call(on, "POST", "/requests", body, headers);
  assert.equal(reply.status, status, reply.text);
  return reply.body;
}

const get = async (requestId: string, query = ""): Promise<WireRequest> =>
  (await call(server, "GET", `/requests/${requestId}${query}`)).body;

const answer = (requestId: string, value: unknown): Promise<Answer> =>
  call(server, "POST", `/requests/${requestId}/answer`, { answer: value });

test("a program asks, a person answers, the waiting program gets the answer", async () => {
  const asked = await ask({
    payload: "Deploy 1.4?",
    response_schema: { enum: ["yes", "no"] },
    metadata: { service: "shop" },
  });
  assert.deepEqual(
    [asked.status, asked["payload"], asked["title"], asked["response_schema"], asked["metadata"], asked["ended_at"]],
    ["open", "Deploy 1.4?", "Deploy 1.4?", { enum: ["yes", "no"] }, { service: "shop" }, null],
  );
  const waiting = get(asked.request_id, "?wait=30");
  const invalid = await answer(asked.request_id, "perhaps");
  assert.deepEqual([invalid.status, (invalid.body as WireRequest)["code"]], [422, "answer_invalid"]);
  const answered = await call(server, "POST", `/requests/${asked.request_id}/answer`, { answer: "yes", by: "ann" });
  assert.equal(answered.status, 200, answered.text);
  const got = await waiting;
  assert.deepEqual([got.status, got["answer"], got["answered_by"]], ["answered", "yes", "ann"]);
  assert.deepEqual(answered.body, got);
  assert.ok(got["answered_at"] !== undefined && got["ended_at"] !== null);
});

test("without an answer, a wait ends after its time, and the request is open", async () => {
  const { request_id: id } = await ask({ payload: "?" });
  assert.equal((await get(id, "?wait=0.05")).status, "open");
});

test("a repeat with the same key is the same request, another body is refused (requests.1)", async () => {
  const key = { "idempotency-key": randomUUID() };
  const first = await ask({ payload: { a: 1, b: 2 } }, key);
  const again = await ask({ payload: { b: 2, a: 1 } }, key, 200);
  assert.deepEqual(again, first);
  const other = await call(server, "POST", "/requests", { payload: 3 }, key);
  assert.deepEqual([other.status, (other.body as WireRequest)["code"]], [409, "request_key_reused"]);
  await answer(first.request_id, 1);
  assert.equal((await ask({ payload: { a: 1, b: 2 } }, key, 200)).status, "answered");
});

test("a payload has at most 8 MiB as JSON", async () => {
  const payload = "x".repeat(8 * 1024 * 1024 - 2); // with its quotes
  const { request_id: id } = await ask({ payload });
  const refused = await call(server, "POST", "/requests", { payload: `${payload}x` });
  assert.deepEqual([refused.status, (refused.body as WireRequest)["code"]], [413, "member_too_large"]);
  await call(server, "DELETE", `/threads/${id}`);
});

test("calls at the same time with one key make one request (requests.1)", async () => {
  const key = { "idempotency-key": randomUUID() };
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => call(server, "POST", "/requests", { payload: key }, key)),
  );
  assert.deepEqual(new Set(replies.map(({ body }) => (body as WireRequest).request_id)).size, 1);
  assert.equal(replies.filter(({ status }) => status === 201).length, 1);
  assert.equal(replies.filter(({ status }) => status === 200).length, 9);
});

const ENDS: readonly [how: string, end: (id: string) => Promise<Answer>, status: string][] = [
  ["answered", (id) => answer(id, "x"), "answered"],
  ["cancelled", (id) => call(server, "POST", `/requests/${id}/cancel`, { reason: "obsolete" }), "cancelled"],
];

for (const [how, end, status] of ENDS) {
  test(`a request that is ${how} has ended: no other end takes effect (requests.2)`, async () => {
    const { request_id: id } = await ask({ payload: "?" });
    const ended = await end(id);
    assert.deepEqual([ended.status, (ended.body as WireRequest).status], [200, status]);
    for (const [, again] of ENDS.filter(([other]) => other !== how || how === "answered")) {
      const late = await again(id);
      assert.deepEqual([late.status, (late.body as WireRequest)["code"]], [409, "request_ended"], late.text);
      assert.deepEqual((late.body as WireRequest)["request"], ended.body);
    }
    assert.deepEqual(await get(id), ended.body);
    const trail = await readAudit(server, id);
    assert.deepEqual(
      trail.map(({ action }) => action),
      [how],
    );
  });
}

test("cancelling twice is one cancellation, with its reason", async () => {
  const { request_id: id } = await ask({ payload: "?" });
  const first = await call(server, "POST", `/requests/${id}/cancel`, { reason: "obsolete" });
  const again = await call(server, "POST", `/requests/${id}/cancel`, {});
  assert.deepEqual([again.status, again.body], [200, first.body]);
  assert.equal((first.body as WireRequest)["reason"], "obsolete");
});

test("answers and cancellations at the same time: one end (requests.2)", async () => {
  for (let round = 0; round < 5; round++) {
    const { request_id: id } = await ask({ payload: "?" });
    const ends = [0, 1, 2, 3].flatMap((value) => [
      answer(id, value),
      call(server, "POST", `/requests/${id}/cancel`, { reason: String(value) }),
    ]);
    const replies = await Promise.all(ends);
    const won = replies.filter(({ status }) => status === 200).map(({ body }) => body as WireRequest);
    const final = await get(id);
    for (const one of won) assert.deepEqual(one, final);
    assert.equal(won.length, final.status === "answered" ? 1 : 4);
    for (const lost of replies.filter(({ status }) => status !== 200))
      assert.equal((lost.body as WireRequest)["code"], "request_ended", lost.text);
    assert.equal((await readAudit(server, id)).length, 1);
  }
});

test("a deadline expires the request, answers it, or leaves it open", async () => {
  const expiring = await ask({ payload: "?", deadline: 0.01 });
  assert.equal((await get(expiring.request_id, "?wait=20")).status, "expired");
  const defaulted = await ask({ payload: "?", deadline: 0.01, on_deadline: { answer: "no" } });
  const got = await get(defaulted.request_id, "?wait=20");
  assert.deepEqual([got.status, got["answer"], got["answered_by"]], ["answered", "no", "deadline"]);
  const open = await ask({ payload: "?", deadline: "2020-01-01T00:00:00Z", on_deadline: null });
  assert.deepEqual([open.status, open["expires_at"]], ["open", "2020-01-01T00:00:00.000Z"]);
});

test("the signed webhook has the end, once each", async () => {
  const url = `${receiver.url}/hook`;
  const ids = [];
  for (const end of [
    (id: string) => answer(id, 1),
    (id: string) => call(server, "POST", `/requests/${id}/cancel`, {}),
    null,
  ]) {
    const { request_id: id } = await ask({ payload: "?", webhook: url, ...(end === null ? { deadline: 0.01 } : {}) });
    ids.push(id);
    await end?.(id);
    const received = await receiver.came("/hook", ids.length);
    const { event, headers } = received[ids.length - 1] as (typeof received)[number];
    const { url: _url, ...rest } = await get(id, "?wait=20");
    const { webhook_sent_at: _at, type, ...own } = event;
    assert.deepEqual([type, own], [`request.${rest.status}`, rest]);
    assert.ok(headers["webhook-signature"] !== undefined);
  }
  assert.equal(new Set(ids).size, 3);
});

test("it is an inbox item: listed with its title, answered in the inbox (requests.3)", async () => {
  const { request_id: id, interrupt_id: interruptId } = await ask({
    payload: { n: 1 },
    title: "Refund?",
    priority: "high",
  });
  const [item] = await readItems(server, id);
  assert.deepEqual([item?.id, item?.title, item?.value, item?.kind], [interruptId, "Refund?", { n: 1 }, "question"]);
  const urgent = await call(server, "GET", `/inbox?metadata=${encodeURIComponent('{"priority":"high"}')}`);
  assert.equal((urgent.body as { items: unknown[] }).items.length, 1);
  await answerItem(server, [{ thread_id: id, interrupt_id: interruptId, resume: true }]);
  assert.equal((await get(id, "?wait=20"))["answer"], true);
});

test("a tool approval has the rules of its payload (requests.3)", async () => {
  const payload = {
    action_requests: [{ name: "refund", args: { amount: 3 } }],
    review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "reject"] }],
  };
  const { request_id: id } = await ask({ payload, assignees: ["ann"] });
  const wrong = await call(server, "POST", `/requests/${id}/answer`, {
    answer: { decisions: [{ type: "edit" }] },
    by: "ann",
  });
  assert.equal(wrong.status, 422, wrong.text);
  const right = await call(server, "POST", `/requests/${id}/answer`, {
    answer: { decisions: [{ type: "approve" }] },
    by: "ann",
  });
  assert.equal(right.status, 200, right.text);
});

test("the events show the request, each change, and end with it", async () => {
  const { request_id: id } = await ask({ payload: "?" });
  const response = await fetch(`${server.url}/requests/${id}/events`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let isAnswered = false;
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += part.value;
    if (!isAnswered && text.includes("data: ")) {
      isAnswered = true;
      await answer(id, 5);
    }
  }
  const states = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => (JSON.parse(data) as WireRequest).status);
  assert.deepEqual(states, ["open", "answered"]);
});

test("the search finds requests by status, metadata and words", async () => {
  const tag = randomUUID();
  const asked = [];
  for (const n of [0, 1, 2]) asked.push(await ask({ payload: `word${n}`, metadata: { tag } }));
  await answer(asked[0]?.request_id ?? "", 1);
  await call(server, "POST", `/requests/${asked[1]?.request_id}/cancel`, {});
  const find = async (body: object): Promise<readonly string[]> => {
    const reply = await call(server, "POST", "/requests/search", { metadata: { tag }, ...body });
    assert.equal(reply.status, 200, reply.text);
    return (reply.body as { items: WireRequest[] }).items.map(({ request_id: id }) => id);
  };
  const [first, second, third] = asked.map(({ request_id: id }) => id);
  assert.deepEqual(await find({}), [third, second, first]);
  assert.deepEqual(await find({ status: "open" }), [third]);
  assert.deepEqual(await find({ status: "answered" }), [first]);
  assert.deepEqual(await find({ status: "cancelled" }), [second]);
  assert.deepEqual(await find({ q: "word2" }), [third]);
  const page = await call(server, "POST", "/requests/search", { metadata: { tag }, limit: 2 });
  const { next_cursor: cursor } = page.body as { next_cursor: string };
  assert.deepEqual(await find({ limit: 2, cursor }), [first]);
});

test("the thread of a request takes nothing else (requests.4)", async () => {
  const { request_id: id, interrupt_id: interruptId } = await ask({ payload: "?" });
  const runs = `/threads/${id}/runs/wait`;
  const tries: readonly [string, object][] = [
    [runs, { assistant_id: "holdpoint-request", input: { request: { payload: 1, schema: null } } }],
    [runs, { assistant_id: "hanging", input: {} }],
    [runs, { assistant_id: "holdpoint-request", input: null }],
    [runs, { assistant_id: "holdpoint-request", command: { goto: "__end__" } }],
    [runs, { assistant_id: "holdpoint-request", command: { resume: { [interruptId]: 1 }, update: { answer: 2 } } }],
    ["/runs/wait", { assistant_id: "holdpoint-request", input: { request: { payload: 1, schema: null } } }],
    [`/threads/${id}/state`, { values: { answer: 1 } }],
    [`/threads/${id}/copy`, {}],
  ];
  const before = await get(id);
  for (const [path, body] of tries) {
    const reply = await call(server, "POST", path, body);
    assert.deepEqual([reply.status, (reply.body as WireRequest)["code"]], [409, "request_fixed"], reply.text);
  }
  assert.deepEqual(await get(id), before);
  const resumed = await call(server, "POST", runs, { assistant_id: "holdpoint-request", command: { resume: 7 } });
  assert.equal(resumed.status, 200, resumed.text);
  assert.equal((await get(id))["answer"], 7);
  const again = await call(server, "POST", runs, { assistant_id: "holdpoint-request", input: null });
  assert.equal((again.body as WireRequest)["code"], "request_fixed");
});

test("the graph of requests is in no list", async () => {
  const found = await call(server, "POST", "/assistants/search", { limit: 1000 });
  assert.ok(!found.text.includes("holdpoint-request"));
});

for (const [what, body] of [
  ["no payload", {}],
  ["an unknown member", { payload: 1, question: 2 }],
  ["malformed rules", { payload: 1, review: { approvals: 0 } }],
  ["a schema that cannot be checked", { payload: 1, response_schema: { type: "string", pattern: "(?=a)b" } }],
  ["rules in the schema", { payload: 1, response_schema: { "x-holdpoint-review": { assignees: ["ann"] } } }],
  ["a deadline without a zone", { payload: 1, deadline: "2030-01-01T00:00:00" }],
  ["an end without a deadline", { payload: 1, on_deadline: "fail" }],
] as const) {
  test(`${what} is refused with its place`, async () => {
    const reply = await call(server, "POST", "/requests", body);
    assert.deepEqual([reply.status, (reply.body as WireRequest)["code"]], [422, "invalid_request"], reply.text);
    assert.ok(Array.isArray((reply.body as WireRequest)["errors"]));
  });
}

test("long runs in all slots do not hold requests up", async () => {
  const { thread_id: threadId } = (await call(server, "POST", "/threads", {})).body as { thread_id: string };
  const run = (await call(server, "POST", `/threads/${threadId}/runs`, { assistant_id: "hanging", input: {} }))
    .body as { run_id: string };
  const { request_id: id } = await ask({ payload: "?" });
  assert.equal((await answer(id, 1)).status, 200);
  await call(server, "POST", `/threads/${threadId}/runs/${run.run_id}/cancel?wait=1`);
});

test("a key limited to requests reaches its own requests only (requests.5)", async () => {
  const as = (name: string): Headers => ({ "x-api-key": `${name}-key` });
  const own = await ask(
    { payload: { secret: 1 }, response_schema: { type: "string", format: "password" } },
    as("ci"),
    201,
    keyed,
  );
  const others = await ask({ payload: 2 }, as("bot"), 201, keyed);
  const status = async (method: string, path: string, body?: unknown, name = "ci"): Promise<number> =>
    (await call(keyed, method, path, body, as(name))).status;
  assert.equal(await status("GET", `/requests/${own.request_id}`), 200);
  assert.equal(await status("GET", `/requests/${others.request_id}`), 404);
  assert.equal(await status("POST", `/requests/${others.request_id}/cancel`, {}), 404);
  assert.equal(await status("POST", `/requests/${own.request_id}/answer`, { answer: "x" }), 403);
  assert.equal(await status("GET", `/threads/${own.request_id}`), 403);
  assert.equal(await status("GET", "/inbox"), 403);
  assert.equal(await status("POST", "/assistants/search", {}), 403);
  const found = await call(keyed, "POST", "/requests/search", {}, as("ci"));
  assert.deepEqual(
    (found.body as { items: WireRequest[] }).items.map(({ request_id: id }) => id),
    [own.request_id],
  );
  assert.equal(await status("POST", "/requests", { payload: 1 }, "ann"), 403);
  assert.equal(await status("POST", `/requests/${own.request_id}/answer`, { answer: "s3cret" }, "ann"), 200);
  const read = async (name: string): Promise<unknown> =>
    ((await call(keyed, "GET", `/requests/${own.request_id}`, undefined, as(name))).body as WireRequest)["answer"];
  assert.deepEqual([await read("ci"), await read("ann"), await read("vic")], ["s3cret", "s3cret", "********"]);
});

for (const member of ["requested_by", "asked_as"]) {
  test(`only the server writes ${member} of a request (requests.5)`, async () => {
    const as = (name: string): Headers => ({ "x-api-key": `${name}-key` });
    const metadata = { [member]: "ci" };
    const { request_id: id } = await ask({ payload: 1 }, as("root"), 201, keyed);
    for (const [method, path, body, name] of [
      ["POST", "/requests", { payload: 1, metadata }, "bot"],
      ["POST", "/requests", { payload: 1, metadata }, "root"],
      ["PATCH", `/threads/${id}`, { metadata }, "root"],
      ["PATCH", `/threads/${id}/state`, { metadata }, "root"],
    ] as const) {
      const reply = await call(keyed, method, path, body, as(name));
      assert.deepEqual([reply.status, (reply.body as WireRequest)["code"]], [422, "invalid_request"], reply.text);
    }
    const mine = await call(keyed, "POST", "/requests/search", { metadata: { requested_by: "root" } }, as("root"));
    assert.ok((mine.body as { items: WireRequest[] }).items.some(({ request_id: found }) => found === id));
    await call(keyed, "POST", `/requests/${id}/cancel`, {}, as("root"));
  });
}

test("the author of a request is excluded by four eyes, and votes count (requests.3)", async () => {
  const as = (name: string): Headers => ({ "x-api-key": `${name}-key` });
  const { request_id: id } = await ask(
    { payload: "?", review: { four_eyes: true, approvals: 2 } },
    as("root"),
    201,
    keyed,
  );
  const give = (name: string): Promise<Answer> =>
    call(keyed, "POST", `/requests/${id}/answer`, { answer: true }, as(name));
  assert.equal((await give("root")).status, 403);
  const first = await give("ann");
  assert.deepEqual([first.status, (first.body as WireRequest)["code"]], [409, "approvals_pending"]);
  const second = await give("ben");
  assert.deepEqual([second.status, (second.body as WireRequest).status], [200, "answered"]);
});
