// Test of holdpoint/requests: a question is asked once, and its answer arrives once, whatever happens to single calls.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type Fault, type FakeRequests, startFakeRequests } from "../../../../test/fakes/requests.ts";
import { approve, ask, askRequest, decide, RejectedError, RequestEndedError, RequestRefusedError } from "./requests.ts";

async function start(t: TestContext): Promise<FakeRequests> {
  const server = await startFakeRequests();
  t.after(() => {
    server.close();
    assert.deepEqual(server.violations, []);
  });
  return server;
}

const answered = (answer: unknown): Readonly<Record<string, unknown>> => ({
  status: "answered",
  answer,
  answered_by: "ann",
});
const decided = (decision: object): Readonly<Record<string, unknown>> => answered({ decisions: [decision] });

const TROUBLES: Readonly<Record<string, readonly Fault[]>> = {
  "no trouble": [],
  "a connection that closes before the question is read": ["closed"],
  "a reply that is lost after the question is stored": ["lost"],
  "a server that is full for a moment": [{ status: 503, retryAfter: 1 }],
  "a limit of calls": [{ status: 429 }],
  "a fault of the server": [{ status: 500 }, { status: 502 }],
};
for (const [name, faults] of Object.entries(TROUBLES))
  test(`the question is asked once and its answer arrives: ${name}`, async (t) => {
    const server = await start(t);
    server.fail(...faults);
    const answer = ask("Deploy?", { url: server.url, choices: ["yes", "no"] });
    await server.opened(1);
    server.end(0, answered("yes"));
    assert.equal(await answer, "yes");
    assert.equal(server.kept.length, 1);
    assert.deepEqual(server.kept[0]?.body, { payload: "Deploy?", response_schema: { enum: ["yes", "no"] } });
  });

for (const fault of ["closed", "cut", "lost", { status: 503 }] as const)
  test(`a wait goes on after ${JSON.stringify(fault)}`, async (t) => {
    const server = await start(t);
    const told: string[] = [];
    const onOpen = (): void => server.fail(fault);
    const answer = ask("Deploy?", {
      url: server.url,
      onOpen,
      onRetry: (reason) => {
        told.push(reason);
        server.end(0, answered({ amount: 7 }));
      },
    });
    if (fault === "lost") void server.opened(1).then(() => server.end(0, answered({ amount: 7 })));
    assert.deepEqual(await answer, { amount: 7 });
    assert.equal(told.length, 1);
    assert.equal(server.kept.length, 1);
  });

test("the same key finds the question again, open or answered, and another question under it is refused", async (t) => {
  const server = await start(t);
  const options = { url: server.url, key: "deploy-1.4" };
  const stopped = new AbortController();
  const first = ask("Deploy?", {
    ...options,
    signal: stopped.signal,
    onOpen: () => stopped.abort(new Error("killed")),
  });
  await assert.rejects(first, /killed/);
  const second = ask("Deploy?", options);
  server.end(0, answered("yes"));
  assert.equal(await second, "yes");
  assert.equal(await ask("Deploy?", options), "yes");
  await assert.rejects(ask("Delete?", options), (error: RequestRefusedError) => error.code === "request_key_reused");
  assert.equal(server.kept.length, 1);
});

test("without a key each call asks anew", async (t) => {
  const server = await start(t);
  const answers = [ask("Deploy?", { url: server.url }), ask("Deploy?", { url: server.url })];
  await server.opened(2);
  for (const index of [0, 1]) server.end(index, answered(index));
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([0, 1]));
});

test("options become the members of the request, and the key of the caller its header", async (t) => {
  const server = await start(t);
  const ended = askRequest(
    { question: "How much?" },
    {
      url: `${server.url}/`,
      apiKey: "secret",
      title: "Amount",
      timeout: 60,
      onTimeout: 0,
      schema: { type: "number" },
      assignees: ["ann"],
      review: { approvals: 2 },
      priority: "high",
      metadata: { order: "4711" },
      notify: false,
      webhook: "https://example.com/hook",
    },
  );
  await server.opened(1);
  server.end(0, answered(3));
  assert.equal((await ended).answered_by, "ann");
  assert.deepEqual(server.kept[0]?.body, {
    payload: { question: "How much?" },
    title: "Amount",
    assignees: ["ann"],
    review: { approvals: 2 },
    priority: "high",
    metadata: { order: "4711" },
    notify: false,
    webhook: "https://example.com/hook",
    response_schema: { type: "number" },
    deadline: 60,
    on_deadline: { answer: 0 },
  });
  assert.deepEqual([...new Set(server.apiKeys)], ["secret"]);
});

for (const end of [{ status: "expired" }, { status: "cancelled", reason: "too late" }])
  test(`a question that is ${end.status} has no answer`, async (t) => {
    const server = await start(t);
    const answer = ask("Deploy?", { url: server.url });
    const failed = assert.rejects(
      answer,
      (error) => error instanceof RequestEndedError && error.request.status === end.status,
    );
    await server.opened(1);
    server.end(0, end);
    await failed;
  });

for (const status of [401, 403, 413, 422])
  test(`${status} is an error at once, while asking and while waiting`, async (t) => {
    const server = await start(t);
    const refused = (error: unknown): boolean => error instanceof RequestRefusedError && error.status === status;
    server.fail({ status });
    await assert.rejects(ask("Deploy?", { url: server.url }), refused);
    await assert.rejects(ask("Deploy?", { url: server.url, onOpen: () => server.fail({ status }) }), refused);
    assert.equal(server.calls.length, 3);
  });

const DECISIONS = [
  ["approve", { type: "approve" }, 7],
  ["edit", { type: "edit", editedAction: { name: "refund", args: { amount: 5 } } }, 5],
] as const;
for (const [name, decision, amount] of DECISIONS)
  test(`a function runs with the arguments that a person approved: ${name}`, async (t) => {
    const server = await start(t);
    const refund = approve(({ amount }: { readonly amount: number }) => `refunded ${amount}`, {
      name: "refund",
      url: server.url,
      key: ({ amount }) => `refund-${amount}`,
      description: "A customer asks.",
    });
    const result = refund({ amount: 7 });
    await server.opened(1);
    server.end(0, decided(decision));
    assert.equal(await result, `refunded ${amount}`);
    assert.equal(server.kept[0]?.key, "refund-7");
    assert.deepEqual(server.kept[0].body, {
      payload: {
        actionRequests: [{ name: "refund", args: { amount: 7 }, description: "A customer asks." }],
        reviewConfigs: [{ actionName: "refund", allowedDecisions: ["approve", "edit", "reject"] }],
      },
    });
  });

test("a function does not run when a person rejects, and the caller learns the reason", async (t) => {
  const server = await start(t);
  let runs = 0;
  const drop = approve(
    function drop() {
      runs++;
    },
    { url: server.url, editable: false },
  );
  const result = assert.rejects(
    drop(undefined),
    (error) => error instanceof RejectedError && error.message === "not today",
  );
  await server.opened(1);
  server.end(0, decided({ type: "reject", message: "not today" }));
  await result;
  assert.equal(runs, 0);
});

test("a decision that nobody knows is a rejection", async (t) => {
  const server = await start(t);
  const decision = decide("drop", {}, { url: server.url });
  await server.opened(1);
  server.end(0, answered({ decisions: [{ type: "later" }] }));
  assert.deepEqual(await decision, { approved: false, message: "drop was rejected" });
});

test("a missing server is named", async () => {
  await assert.rejects(ask("Deploy?"), /HOLDPOINT_URL/);
});
