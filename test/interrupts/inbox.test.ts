// Tests of the inbox, over HTTP: items, answers, claims, events, the audit trail.
//   interrupts/inbox.1. An item is in the list exactly while it accepts an answer; the audit trail has one entry per
//        accepted answer, with person, route and origin. Answers of one thread go together (inbox.1 to inbox.4);
//        threads succeed or fail separately; each has its result. A claim excludes others from answering through the
//        inbox while it holds (inbox.1 to inbox.3).
//   inbox-feed.1, inbox-feed.2. Events follow commits; a client that missed some gets a reload event.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { answer, readAudit, inboxPage, readItems, ok, watchInbox, type WireItem } from "../harness/inbox.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { newThread, onlyQuestion, readProblem, listQuestions, type TestThread } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const request = { action_request: { action: "send", args: { to: "ann" } }, description: "To Ann" };

async function asking(payload: unknown = "?", metadata: object = {}): Promise<{ thread: TestThread; item: WireItem }> {
  const thread = await newThread(server, "echo", { metadata });
  await thread.run({ input: { payload } });
  const [item] = await readItems(server, thread.threadId);
  assert.ok(item !== undefined);
  return { thread, item };
}

const key = (item: WireItem) => ({ thread_id: item.thread_id, interrupt_id: item.id });
const itemPath = (item: WireItem) => `/inbox/${item.thread_id}/${item.id}`;

test("a question is an item until it is answered, and can be looked up after (interrupts/inbox.1)", async () => {
  const { thread, item } = await asking([request], { customer: "acme" });
  const { run_id, thread_id, id, ...rest } = item;
  assert.deepEqual([thread_id, id], [thread.threadId, onlyQuestion({ __interrupt__: await thread.open() }).id]);
  assert.equal(run_id, (await thread.runs())[0]?.run_id);
  const { created_at, assistant_id, metadata, ns, response_schema, ...said } = rest as typeof rest & {
    ns: readonly string[];
    response_schema: object;
  };
  assert.match(JSON.stringify(response_schema), /"accept".*"ignore"/, "the rules of the dialect");
  assert.ok(Date.parse(created_at) <= Date.now() && assistant_id !== "" && ns.length === 1);
  assert.equal(metadata["customer"], "acme");
  assert.deepEqual(said, {
    graph_id: "echo",
    node: "ask",
    kind: "tool_approval",
    dialect: "human_interrupt",
    title: "send: To Ann",
    action: "send",
    actions: 1,
    excerpt: "to: ann",
    decisions: ["approve", "edit", "respond", "ignore", "reject"],
    dangerous: false,
    priority: "normal",
    claim: null,
    deadline: null,
    state: "open",
    overdue: false,
    thread_status: "interrupted",
    value: [request],
  });
  const accepted = [{ type: "accept", args: null }];
  await thread.resume(accepted);
  assert.deepEqual(await readItems(server, thread.threadId), []);
  const later: WireItem = await ok(call(server, "GET", itemPath(item)));
  assert.deepEqual([later.state, later.thread_status, later.answered?.by], ["answered", "idle", "anonymous"]);
  assert.deepEqual(later.answered?.value, accepted);
});

test("a breakpoint is an item that takes no value", async () => {
  const thread = await newThread(server, "steps");
  await thread.run({ input: {}, interrupt_before: "*" });
  const [item] = await readItems(server, thread.threadId);
  assert.ok(item !== undefined);
  const { checkpoint_id } = (await thread.state()).checkpoint;
  assert.deepEqual([item.kind, item.id, item.dialect], ["breakpoint", checkpoint_id.replaceAll("-", ""), null]);
  assert.deepEqual([item.node], (await thread.state()).next);
  const [refused] = await answer(server, [{ ...key(item), resume: "yes" }]);
  assert.equal(refused?.problem?.code, "invalid_request");
  const [firstReply] = await answer(server, [key(item)]);
  assert.equal(firstReply?.status, "answered");
  await thread.reaches("interrupted");
  const [next] = await readItems(server, thread.threadId);
  assert.ok(
    next !== undefined && next.id !== item.id,
    "the breakpoints of the first run hold for the next (interrupts/inbox.4)",
  );
  const [late] = await answer(server, [key(item)]);
  assert.equal(late?.problem?.code, "interrupt_stale");
  const trail = await readAudit(server, thread.threadId);
  assert.deepEqual(
    trail.map(({ action, via, interrupt_id }) => [action, via, interrupt_id]),
    [["continued", "inbox", item.id]],
  );
});

test("a state edit moves the breakpoint, and ends it with __end__", async () => {
  const thread = await newThread(server, "steps");
  await thread.run({ input: {}, interrupt_before: "*" });
  const [first] = await readItems(server, thread.threadId);
  const [node] = (await thread.state()).next;
  await ok(call(server, "POST", `${thread.path}/state`, { values: {}, as_node: node }));
  const [second] = await readItems(server, thread.threadId);
  assert.ok(second !== undefined && second.id !== first?.id && second.kind === "breakpoint");
  await ok(call(server, "POST", `${thread.path}/state`, { values: null, as_node: "__end__" }));
  assert.deepEqual(await readItems(server, thread.threadId), []);
});

test("pages follow each other; filters and ages hold", async () => {
  const tag = { batch: "pages" };
  const made: string[] = [];
  for (let at = 0; at < 5; at++) made.push((await asking({ question: `Q${at}` }, tag)).item.id);
  const metadata = JSON.stringify(tag);
  const seen: WireItem[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await inboxPage(server, { metadata, limit: "2", ...(cursor === "" ? {} : { cursor }) });
    seen.push(...page.items);
    cursor = page.next_cursor;
  }
  assert.deepEqual(
    seen.map(({ title }) => title),
    ["Q0", "Q1", "Q2", "Q3", "Q4"],
  );
  const { items: backwards } = await inboxPage(server, { metadata, sort: "newest" });
  assert.deepEqual(
    backwards.map(({ id }) => id),
    seen.map(({ id }) => id).toReversed(),
  );
  const count = async (query: Record<string, string>) => (await inboxPage(server, { metadata, ...query })).items.length;
  assert.equal(await count({ graph_id: "echo", kind: "question", node: "ask" }), 5);
  assert.equal(await count({ assistant_id: seen[0]?.assistant_id ?? "" }), 5);
  assert.equal(await count({ kind: "form" }), 0);
  assert.equal(await count({ older_than: "1h" }), 0);
  assert.equal(await count({ older_than: "0" }), 5);
  assert.equal(await count({ unclaimed: "true" }), 5);
});

test("a page of large values ends early, and the next one continues", async () => {
  const tag = { batch: "big" };
  for (let at = 0; at < 3; at++) await asking("x".repeat(2_500_000), tag);
  const metadata = JSON.stringify(tag);
  const first = await inboxPage(server, { metadata });
  assert.equal(first.items.length, 1);
  const second = await inboxPage(server, { metadata, cursor: first.next_cursor ?? "" });
  const third = await inboxPage(server, { metadata, cursor: second.next_cursor ?? "" });
  assert.deepEqual([second.items.length, third.items.length, third.next_cursor], [1, 1, null]);
});

for (const [query, field] of [
  [{ cursor: "nonsense" }, "cursor"],
  [{ cursor: Buffer.from('[1,"x","y"]').toString("base64url") }, "cursor"],
  [{ older_than: "-1" }, "older_than"],
  [{ metadata: "[1]" }, "metadata"],
  [{ metadata: "{" }, "metadata"],
  [{ limit: "1001" }, "limit"],
  [{ kind: "other" }, "kind"],
] as const) {
  test(`${JSON.stringify(query)} is refused`, async () => {
    const refused = await call(server, "GET", `/inbox?${new URLSearchParams(query).toString()}`);
    assert.deepEqual([refused.status, readProblem(refused).code], [422, "invalid_request"]);
    assert.match(readProblem(refused).detail, new RegExp(field));
  });
}

test("several answers of one thread are one run; a bad one on another thread spoils nothing (interrupts/inbox.1, interrupts/inbox.2, interrupts/inbox.3)", async () => {
  const [good, bad] = [await newThread(server, "parallel"), await newThread(server, "parallel")];
  for (const thread of [good, bad]) listQuestions(await thread.run({ input: {} }));
  const [ofGood, ofBad] = [await readItems(server, good.threadId), await readItems(server, bad.threadId)];
  const before = await bad.picture();
  const unknown = { thread_id: bad.threadId, interrupt_id: "0".repeat(32), resume: 1 };
  const results = await answer(server, [
    ...ofBad.slice(0, 2).map((item) => ({ ...key(item), resume: "lost" })),
    ...ofGood.map((item) => ({ ...key(item), resume: item.id })),
    unknown,
    { thread_id: "01a1fd91-754a-70a5-a92f-655f81dad5d8", interrupt_id: "0".repeat(32), resume: 1 },
  ]);
  assert.deepEqual(
    results.map(({ status, problem }) => problem?.code ?? status),
    ["sibling_refused", "sibling_refused", "answered", "answered", "answered", "interrupt_unknown", "thread_not_found"],
  );
  assert.equal(new Set(results.map(({ run_id }) => run_id)).size, 2, "one run, and none");
  await good.reaches("idle");
  const { done } = (await good.get()).values as { readonly done: readonly string[] };
  assert.equal(done.length, 4);
  assert.deepEqual(await bad.picture(), before);
});

test("an error names the answer it belongs to (interrupts/inbox.3)", async () => {
  const { thread, item } = await asking();
  const cases = [
    [[key(item)], "invalid_request"],
    [
      [
        { ...key(item), resume: 1 },
        { ...key(item), resume: 2 },
      ],
      "invalid_request",
    ],
  ] as const;
  for (const [answers, code] of cases) {
    for (const { problem } of await answer(server, answers)) assert.equal(problem?.code, code);
  }
  assert.equal((await thread.get()).status, "interrupted");
  for (const body of [[], [{ thread_id: item.thread_id }], { answers: [] }, [{ ...key(item), interrupt_id: "X" }]]) {
    assert.equal((await call(server, "POST", "/inbox/answers", body)).status, 422);
  }
  const [firstReply] = await answer(server, { answers: [{ ...key(item), resume: null }], by: "ann" });
  assert.equal(firstReply?.status, "answered");
  await thread.reaches("idle");
  assert.deepEqual((await thread.get()).values?.["answer"], [null]);
  const [late] = await answer(server, [{ ...key(item), resume: null }]);
  assert.deepEqual(late?.problem?.code, "interrupt_stale");
  assert.equal(late?.problem?.answered?.same_value, true);
});

test("an inbox answer continues with the config and context of the interrupted run (interrupts/inbox.4)", async () => {
  const { thread, item } = await (async () => {
    const made = await newThread(server, "echo");
    await made.run({
      input: {},
      config: { configurable: { tenant: "t1" }, recursion_limit: 7 },
      context: { lang: "de" },
    });
    const [found] = await readItems(server, made.threadId);
    assert.ok(found !== undefined);
    return { thread: made, item: found };
  })();
  const [firstReply] = await answer(server, [{ ...key(item), resume: 1 }]);
  const run: { readonly kwargs: { readonly config: object; readonly context: unknown } } = await ok(
    call(server, "GET", `${thread.path}/runs/${firstReply?.run_id ?? ""}`),
  );
  assert.deepEqual(run.kwargs.config, { configurable: { tenant: "t1" }, recursion_limit: 7 });
  assert.deepEqual(run.kwargs.context, { lang: "de" });
});

test("the same Idempotency-Key returns the same runs again, and another body is an error", async () => {
  const [one, two] = [await asking(), await asking()];
  const answers = [one, two].map(({ item }) => ({ ...key(item), resume: "a" }));
  const headers = { "idempotency-key": `inbox ${one.item.id}` };
  const first = await answer(server, answers, headers);
  assert.deepEqual(await answer(server, answers, headers), first);
  const other = await answer(server, [{ ...key(one.item), resume: "b" }], headers);
  assert.equal(other[0]?.problem?.code, "idempotency_key_reused");
  assert.equal((await one.thread.runs()).length, 2);
});

test("one of a hundred concurrent answers, through the inbox and the API, is accepted and audited (interrupts/inbox.1)", async () => {
  const { thread, item } = await asking();
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      if (at % 2 === 0) return (await thread.wait({ command: { resume: { [item.id]: at } } })).status;
      const [result] = await answer(server, { answers: [{ ...key(item), resume: at }], by: `person ${at}` });
      return result?.status === "answered" ? 200 : result?.problem?.status;
    }),
  );
  assert.equal(outcomes.filter((status) => status === 200).length, 1);
  assert.ok(outcomes.every((status) => status === 200 || status === 409));
  await thread.reaches("idle");
  const winner = outcomes.indexOf(200);
  assert.deepEqual((await thread.get()).values?.["answer"], [winner]);
  const trail = await readAudit(server, thread.threadId);
  assert.deepEqual(
    trail.map(({ action, value, via, by }) => ({ action, value, via, by })),
    [
      winner % 2 === 0
        ? { action: "answered", value: winner, via: "api", by: "anonymous" }
        : { action: "answered", value: winner, via: "inbox", by: `person ${winner}` },
    ],
  );
});

test("a claim keeps others from answering through the inbox, and not the API (interrupts/inbox.1)", async () => {
  const { thread, item } = await asking();
  const claim = (by: string, more: object = {}) => call(server, "POST", `${itemPath(item)}/claim`, { by, ...more });
  const claimed: WireItem = await ok(claim("ann"));
  assert.deepEqual([claimed.claim?.by, claimed.claim?.until], ["ann", null]);
  const refused = await claim("bob");
  assert.deepEqual([refused.status, readProblem(refused).code], [409, "interrupt_claimed"]);
  assert.equal((await call(server, "POST", `${itemPath(item)}/release`, { by: "bob" })).status, 409);
  const [bob] = await answer(server, { answers: [{ ...key(item), resume: 1 }], by: "bob" });
  assert.equal(bob?.problem?.code, "interrupt_claimed");
  assert.deepEqual((await inboxPage(server, { claimed_by: "ann" })).items.length, 1);
  await ok(call(server, "POST", `${itemPath(item)}/release`, { by: "bob", force: true }));
  await ok(claim("bob"));
  await thread.resume("by the API");
  const late = await claim("bob");
  assert.deepEqual([late.status, readProblem(late).code], [409, "interrupt_stale"]);
  const trail = await readAudit(server, thread.threadId);
  assert.deepEqual(
    trail.map(({ action, by, via }) => `${action} by ${by} via ${via}`),
    [
      "claimed by ann via inbox",
      "released by bob via inbox",
      "claimed by bob via inbox",
      "answered by anonymous via api",
    ],
  );
});

test("of twenty claims at once one holds; its owner answers (interrupts/inbox.2)", async () => {
  const { thread, item } = await asking();
  const names = Array.from({ length: 20 }, (_, at) => `person ${at}`);
  const replies = await Promise.all(names.map((by) => call(server, "POST", `${itemPath(item)}/claim`, { by })));
  assert.deepEqual(Map.groupBy(replies, ({ status }) => status).get(409)?.length, 19);
  const owner = names[replies.findIndex(({ status }) => status === 200)];
  const [firstReply] = await answer(server, { answers: [{ ...key(item), resume: 1 }], by: owner });
  assert.equal(firstReply?.status, "answered");
  await thread.reaches("idle");
});

test("a claim that has run out is none (interrupts/inbox.3)", async () => {
  const { item } = await asking();
  const claim = (by: string, seconds: number) =>
    call(server, "POST", `${itemPath(item)}/claim`, { by, expires_in_seconds: seconds });
  await ok(claim("ann", 0.001));
  const firstReply: WireItem = await ok(claim("bob", 3600));
  assert.equal(firstReply.claim?.by, "bob");
  assert.ok(firstReply.claim?.until !== null);
});

test("a claim outlives a sibling's answer", async () => {
  const thread = await newThread(server, "parallel");
  await thread.run({ input: {} });
  const [first, second] = await readItems(server, thread.threadId);
  assert.ok(first !== undefined && second !== undefined);
  await ok(call(server, "POST", `${itemPath(second)}/claim`, { by: "ann" }));
  await thread.run({ command: { resume: { [first.id]: 1 } } });
  const after = (await readItems(server, thread.threadId)).find(({ id }) => id === second.id);
  assert.deepEqual([after?.claim?.by, after?.created_at], ["ann", second.created_at]);
});

for (const [path, code] of [
  ["/inbox/01a1fd91-754a-70a5-a92f-655f81dad5d8/00000000000000000000000000000000", "thread_not_found"],
  ["/inbox/not-a-uuid/00000000000000000000000000000000", "thread_not_found"],
] as const) {
  test(`GET ${path} is ${code}`, async () => {
    const reply = await call(server, "GET", path);
    assert.deepEqual([reply.status, readProblem(reply).code], [404, code]);
  });
}

test("an id that the thread never had is not found", async () => {
  const { item } = await asking();
  for (const [method, path] of [
    ["GET", ""],
    ["POST", "/claim"],
    ["POST", "/release"],
  ] as const) {
    const body = method === "GET" ? undefined : {};
    const reply = await call(server, method, `/inbox/${item.thread_id}/nonsense${path}`, body);
    assert.deepEqual([reply.status, readProblem(reply).code], [404, "interrupt_not_found"]);
  }
});

test("events show new, claimed and resolved items, once each accepts an action (inbox-feed.1)", async () => {
  const watcher = await watchInbox(server);
  assert.equal(watcher.first.event, "ready");
  const { thread, item } = await asking({ question: "Watched?" });
  const next = async (): Promise<string> => {
    const event = await watcher.next();
    return event.data.thread_id === thread.threadId ? event.event : next();
  };
  assert.equal(await next(), "added");
  await ok(call(server, "POST", `${itemPath(item)}/claim`, { by: "ann" }));
  assert.equal(await next(), "claimed");
  await ok(call(server, "POST", `${itemPath(item)}/release`, { by: "ann" }));
  assert.equal(await next(), "released");
  await answer(server, { answers: [{ ...key(item), resume: 1 }], by: "ann" });
  assert.equal(await next(), "answered");
  await thread.reaches("idle");
  await thread.run({ input: { payload: "again" } });
  assert.equal(await next(), "added");
  await thread.run({ input: { payload: "new input" } });
  assert.deepEqual([await next(), await next()], ["removed", "added"]);
  await call(server, "DELETE", thread.path);
  assert.equal(await next(), "removed");
  watcher.close();
});

test("an item that is announced can be answered at that moment (inbox-feed.1)", async () => {
  const watcher = await watchInbox(server);
  const thread = await newThread(server, "echo");
  await thread.begin({ input: {} });
  let event = await watcher.next();
  while (event.event !== "added" || event.data.thread_id !== thread.threadId) event = await watcher.next();
  const [firstReply] = await answer(server, [{ thread_id: thread.threadId, interrupt_id: event.data.id, resume: 1 }]);
  assert.equal(firstReply?.status, "answered");
  watcher.close();
});

test("a reader continues after its last event; one with a gap gets a reload event (inbox-feed.2)", async () => {
  const watcher = await watchInbox(server);
  const { thread, item } = await asking();
  const added = await watcher.next();
  watcher.close();
  await answer(server, [{ ...key(item), resume: 1 }]);
  await thread.reaches("idle");
  const again = await watchInbox(server, added.id);
  assert.equal(again.first.event, "ready");
  assert.equal((await again.next()).event, "answered");
  again.close();
  for (const unknown of ["0123456789ab.3", "nonsense", `${added.id}99999`]) {
    const reader = await watchInbox(server, unknown);
    assert.equal(reader.first.event, "reload", unknown);
    reader.close();
  }
});

test("a reader that drops its connection frees its place, also while nothing happens (inbox-feed.5)", async () => {
  const own = await startServerHere();
  for (let round = 0; round < 6; round++) {
    const watchers = await Promise.all(Array.from({ length: 200 }, () => watchInbox(own)));
    for (const watcher of watchers) watcher.close();
  }
  const watcher = await watchInbox(own);
  assert.equal(watcher.first.event, "ready");
  watcher.close();
  await own.stop();
  removeFolder(own.dataDir);
});

test("the audit trail has the source, and exports as JSON lines and CSV", async () => {
  const { thread, item } = await asking();
  await call(
    server,
    "POST",
    "/inbox/answers",
    { answers: [{ ...key(item), resume: '=1+"2",3' }], by: "=ann" },
    {
      "user-agent": `browser ${"x".repeat(1000)}`,
    },
  );
  await thread.reaches("idle");
  const [entry] = await readAudit(server, thread.threadId);
  assert.match(entry?.address ?? "", /127\.0\.0\.1|::1/);
  assert.equal(entry?.user_agent?.length, 256);
  const lines = await call(server, "GET", `${thread.path}/audit?format=ndjson`);
  assert.deepEqual(JSON.parse(lines.text.trim()), entry);
  const table = await call(server, "GET", `${thread.path}/audit?format=csv`);
  assert.match(String(table.headers.get("content-type")), /^text\/csv/);
  const [head, row] = table.text.split("\r\n");
  assert.match(String(head), /^seq,at,action,by,via/);
  assert.match(String(row), /,'=ann,inbox,/);
  assert.ok(row?.endsWith(String.raw`,"""=1+\""2\"",3""",decision`), String(row));
  const page: { readonly next_after: number | null } = await ok(call(server, "GET", `${thread.path}/audit?limit=1`));
  assert.equal(page.next_after, null);
});
