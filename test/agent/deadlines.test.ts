// Tests of deadlines, over HTTP; through restarts: restarts.slow.test.ts.
// Rules:
//   deadlines.1. A deadline acts once; of it and a concurrent human answer one wins. The options of interrupt() win
//        over langgraph.json, that over the payload, and the payload over the assistant.
//   deadlines.3. Deadlines that pass while the server is down act at its start, and no earlier. A payload is never an
//        answer.
//   deadlines.4. A failed action is in the audit trail, and the interrupt stays open.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { answer, readAudit, readItems, ok, watchInbox, type WireAudit, type WireItem } from "../harness/inbox.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { followLog, newThread, type TestThread } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const DAY_SECONDS = 86_400;
const soon = (onExpiry: unknown) => ({ question: "?", expires_in_seconds: 0.01, on_expiry: onExpiry });

async function asks(payload: unknown, graph = "timed"): Promise<TestThread> {
  const thread = await newThread(server, graph);
  await thread.run({ input: { payload } });
  return thread;
}

test("the deadline applies a default answer and audits it (deadlines.1)", async () => {
  const thread = await asks(soon({ answer: { approved: false } }));
  await thread.reaches("idle");
  assert.deepEqual((await thread.get()).values?.["answer"], [{ approved: false }]);
  const trail = await readAudit(server, thread.threadId);
  assert.deepEqual(
    trail.map(({ action, by, via, value, address }) => ({ action, by, via, value, address })),
    [{ action: "answered", by: "deadline", via: "deadline", value: { approved: false }, address: null }],
  );
  assert.equal((await thread.runs()).length, 2);
});

for (const value of [null, false, 0, "", {}]) {
  test(`${JSON.stringify(value)} is a default answer like any other`, async () => {
    const thread = await asks(soon({ answer: value }));
    await thread.reaches("idle");
    assert.deepEqual((await thread.get()).values?.["answer"], [value]);
  });
}

test("the deadline fails a thread with its reason; the thread takes new runs", async () => {
  const watcher = await watchInbox(server);
  const thread = await asks(soon("fail"));
  let event = await watcher.next();
  while (event.event !== "expired" || event.data.thread_id !== thread.threadId) event = await watcher.next();
  watcher.close();
  const { status, error, interrupts } = await thread.get();
  assert.deepEqual([status, error?.error, interrupts], ["error", "DeadlineExpired", {}]);
  assert.match(error?.message ?? "", /of node ask before \d{4}-/);
  const late = await thread.wait({ command: { resume: { [event.data.id]: 1 } } });
  assert.equal(late.status, 409);
  const trail = await readAudit(server, thread.threadId);
  assert.deepEqual(
    trail.map(({ action, by }) => [action, by]),
    [["expired", "deadline"]],
  );
  const { __interrupt__: again } = await thread.run({ input: null });
  assert.equal(again?.[0]?.id, event.data.id);
});

test("siblings that are due are answered in one run, and those that are not wait on", async () => {
  const thread = await newThread(server, "timed_branches");
  await thread.run({
    input: { asks: { a: soon({ answer: 1 }), b: soon({ answer: 2 }), c: { question: "no deadline" } } },
  });
  await followLog(server, "one is left", async () => (await thread.open()).length === 1 || undefined);
  await thread.reaches("interrupted");
  assert.deepEqual(
    (await readItems(server, thread.threadId)).map(({ title }) => title),
    ["no deadline"],
  );
  await thread.run({ command: { resume: 3 } });
  assert.deepEqual(
    ((await thread.state()).values["done"] as string[]).toSorted((a, b) => a.localeCompare(b)),
    ["a=1", "b=2", "c=3"],
  );
});

test("questions whose deadline is computed each time keep their ids, and are answered", async () => {
  const thread = await newThread(server, "computed_branches");
  await thread.run({ input: {} });
  const [a, b] = await thread.open();
  const before = (await readItems(server, thread.threadId)).find(({ id }) => id === b?.id);
  await thread.run({ command: { resume: { [a?.id ?? ""]: 1 } } });
  const items = await readItems(server, thread.threadId);
  assert.deepEqual(
    items.map(({ id, deadline }) => [id, deadline]),
    [[b?.id, before?.deadline]],
  );
  await thread.run({ command: { resume: { [b?.id ?? ""]: 2 } } });
  assert.deepEqual((await thread.get()).values?.["done"], ["a=1", "b=2"]);
});

test("without an action, an interrupt is overdue and stays open", async () => {
  const thread = await asks({ question: "?", expires_at: "2020-01-01T00:00:00Z" });
  const [item] = await readItems(server, thread.threadId);
  assert.deepEqual(
    [item?.overdue, item?.deadline],
    [true, { expires_at: "2020-01-01T00:00:00.000Z", on_expiry: null }],
  );
  await thread.resume("late, but taken");
});

test("a deadline that is far off is shown, and does nothing", async () => {
  const thread = await asks({ question: "?", expires_in_seconds: 300 * DAY_SECONDS, on_expiry: "fail" });
  const [item] = await readItems(server, thread.threadId);
  assert.deepEqual([item?.overdue, item?.deadline?.on_expiry], [false, "fail"]);
  await asks(soon({ answer: 1 })).then((other) => other.reaches("idle"));
  await thread.resume("in time");
});

test("an assistant sets it for interrupts without one (deadlines.1)", async () => {
  const assistant: { readonly assistant_id: string } = await ok(
    call(server, "POST", "/assistants", {
      graph_id: "echo",
      metadata: { interrupt_deadline: { expires_in_seconds: 0.01, on_expiry: { answer: "assistant's" } } },
    }),
  );
  const run = async (payload: object) => {
    const thread = await newThread(server, "echo");
    await ok(thread.wait({ assistant_id: assistant.assistant_id, input: { payload } }));
    await thread.reaches("idle");
    return (await thread.get()).values?.["answer"];
  };
  assert.deepEqual(await run({ question: "?" }), ["assistant's"]);
});

test("a rule for the node in langgraph.json wins over the payload (deadlines.1)", async () => {
  for (const payload of [{ question: "?" }, soon({ answer: "payload's" }), { expires_at: "2036-01-01T00:00:00Z" }]) {
    const thread = await asks(payload, "deployed_deadline");
    await thread.reaches("idle");
    assert.deepEqual((await thread.get()).values?.["answer"], ["deployment's"]);
  }
});

test("a payload cannot answer itself: it is overdue, and waits on (deadlines.3)", async () => {
  // The arguments of a tool call, as a model wrote them.
  const args = { amount: 3000, ...soon({ answer: { decisions: [{ type: "approve" }] } }) };
  for (const payload of [args, [args]]) {
    const thread = await asks(payload, "echo");
    const due = await asks(soon("fail")); // the same timer serves it, later
    await due.reaches("error");
    const [item] = await readItems(server, thread.threadId);
    assert.deepEqual([item?.overdue, item?.deadline?.on_expiry], [true, null]);
    assert.deepEqual(await readAudit(server, thread.threadId), []);
    assert.equal((await thread.open()).length, 1);
  }
});

test("a default answer that violates the schema is audited, and the interrupt stays open (deadlines.4)", async () => {
  const thread = await asks(soon({ answer: "no object" }), "schema");
  const refused = await firstEntry(thread);
  assert.deepEqual([refused.action, refused.by], ["expiry_refused", "deadline"]);
  assert.equal((refused.value as { readonly code: string }).code, "answer_invalid");
  const [item] = await readItems(server, thread.threadId);
  assert.deepEqual([item?.overdue, item?.deadline?.on_expiry], [true, null]);
  await thread.resume({ approved: true });
  assert.deepEqual((await thread.get()).values?.["answer"], { approved: true });
});

function firstEntry({ threadId }: TestThread): Promise<WireAudit> {
  return followLog(server, "an entry", async () => (await readAudit(server, threadId))[0]);
}

test("of a deadline and fifty people at the same moment, one wins (deadlines.1)", async () => {
  const winners = new Set<string>();
  for (const seconds of [0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 3600]) {
    const thread = await newThread(server, "timed");
    const { __interrupt__: questions } = await thread.run({
      input: { payload: { question: "?", expires_in_seconds: seconds, on_expiry: { answer: "deadline" } } },
    });
    const id = questions?.[0]?.id ?? "";
    const key = { thread_id: thread.threadId, interrupt_id: id };
    if (seconds === 0) await thread.reaches("idle"); // the deadline is first for once
    const results = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        if (at % 2 === 0) return (await thread.wait({ command: { resume: { [id]: at } } })).status === 200;
        return (await answer(server, [{ ...key, resume: at }]))[0]?.status === "answered";
      }),
    );
    await thread.reaches("idle");
    const trail = await readAudit(server, thread.threadId);
    assert.deepEqual(
      trail.map(({ action }) => action),
      ["answered"],
    );
    const people = results.filter(Boolean).length;
    assert.equal(people, trail[0]?.by === "deadline" ? 0 : 1);
    const { answer: given } = (await thread.get()).values as { readonly answer: readonly unknown[] };
    assert.deepEqual(given, [trail[0]?.value]);
    winners.add(trail[0]?.by ?? "");
  }
  assert.deepEqual(
    [...winners].toSorted((a, b) => a.localeCompare(b)),
    ["anonymous", "deadline"],
  );
});

test("an expired item is absent from the inbox, and its page shows the outcome", async () => {
  const thread = await asks(soon({ answer: 1 }));
  const id = (await firstEntry(thread)).interrupt_id ?? "";
  await thread.reaches("idle");
  const item: WireItem = await ok(call(server, "GET", `/inbox/${thread.threadId}/${id}`));
  assert.deepEqual([item.state, item.answered?.by], ["answered", "deadline"]);
  assert.deepEqual(await readItems(server, thread.threadId), []);
});
