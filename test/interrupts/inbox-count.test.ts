// Tests of GET /inbox/count and GET /inbox/facets, and of rows without values, over HTTP.
// Rules:
//   interrupts/inbox-count.1. The count is that of the list with the same filters, whatever the page.
//   interrupts/inbox-count.2. A facet counts with all filters but its own.
//   interrupts/inbox-count.4. Questions of graphs and requests of programs have one priority each, by which lists are sorted.
//   interrupts/inbox-count.3. A row without its value has an excerpt, and the decisions that its item allows.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { WireItem } from "../harness/inbox.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

test("the count has the filters of the list, and no pages (interrupts/inbox-count.1)", async () => {
  for (const tier of ["gold", "gold", "tin"]) {
    const thread = await newThread(server, "echo", { metadata: { tier } });
    await thread.run({ input: { payload: tier } });
  }
  const count = async (query: string): Promise<number> => {
    const { count: found }: { readonly count: number } = (await call(server, "GET", `/inbox/count?${query}`)).body;
    return found;
  };
  assert.equal(await count("limit=1"), 3);
  assert.equal(await count(`metadata=${encodeURIComponent('{"tier":"gold"}')}`), 2);
  assert.equal(await count("kind=form"), 0);
  assert.equal(await count("older_than=1d"), 0);
});

interface Facets {
  readonly total: number;
  readonly [facet: string]: readonly { readonly value: unknown; readonly count: number }[] | number;
}

const read = async <T>(path: string): Promise<T> => (await call(server, "GET", path)).body;

test("a facet counts with all filters but its own (interrupts/inbox-count.2)", async () => {
  const { items } = await read<{ readonly items: readonly WireItem[] }>("/inbox?limit=1");
  const [first] = items;
  assert.ok(first !== undefined);
  await call(server, "POST", `/inbox/${first.thread_id}/${first.id}/claim`, { by: "ann" });
  const all = await read<Facets>("/inbox/facets?claimed_by=ann&limit=1");
  assert.equal(all.total, 1);
  assert.deepEqual(all["claimed_by"], [
    { value: null, count: 2 },
    { value: "ann", count: 1 },
  ]);
  assert.deepEqual(all["kind"], [{ value: "question", count: 1 }]);
  assert.deepEqual(all["deadline"], [{ value: "none", count: 1 }]);
  const none = await read<Facets>("/inbox/facets?kind=form&unclaimed=true");
  assert.deepEqual([none.total, none["kind"], none["snoozed"]], [0, [{ value: "question", count: 2 }], []]);
  const gold = await read<Facets>(`/inbox/facets?metadata=${encodeURIComponent('{"tier":"gold"}')}`);
  assert.deepEqual(gold["graph_id"], [{ value: "echo", count: 2 }]);
});

test("members of the metadata are counted where they are asked for (interrupts/inbox-count.2)", async () => {
  const { metadata } = await read<{ readonly metadata: readonly object[] }>("/inbox/facets?metadata_choices=true");
  const [gold, tin] = [
    { value: "gold", count: 2 },
    { value: "tin", count: 1 },
  ];
  assert.deepEqual(metadata, [{ key: "tier", count: 3, values: [gold, tin] }]);
  assert.ok(!("metadata" in (await read<object>("/inbox/facets"))));
});

test("a row without its value has an excerpt and its decisions (interrupts/inbox-count.3)", async () => {
  const payload = { question: "Drop the table?", table: "orders", dangerous: true };
  const thread = await newThread(server, "echo");
  await thread.run({ input: { payload } });
  const { items } = await read<{ readonly items: readonly Readonly<Record<string, unknown>>[] }>(
    `/inbox?values=false&thread_id=${thread.threadId}`,
  );
  const { title, excerpt, decisions, dangerous, ...rest } = items[0] ?? assert.fail();
  assert.deepEqual(
    { title, excerpt, decisions, dangerous },
    {
      title: "Drop the table?",
      excerpt: "question: Drop the table? · table: orders",
      decisions: ["respond"],
      dangerous: true,
    },
  );
  assert.ok(!("value" in rest));
});

test("items come by their deadline, in pages; cursors of another order are refused", async () => {
  const times = ["2999-01-02T00:00:00Z", "2999-01-01T00:00:00Z"];
  for (const at of times) {
    const thread = await newThread(server, "echo");
    await thread.run({ input: { payload: { question: "When?", expires_at: at } } });
  }
  interface Page {
    readonly items: readonly { readonly deadline: { readonly expires_at: string } | null }[];
    readonly next_cursor: string | null;
  }
  const seen: (string | null)[] = [];
  let cursor = "";
  do {
    const page: Page = await read(`/inbox?sort=deadline&values=false&limit=1${cursor}`);
    seen.push(...page.items.map(({ deadline }) => deadline?.expires_at ?? null));
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor !== "");
  assert.deepEqual(seen.slice(0, 2), ["2999-01-01T00:00:00.000Z", "2999-01-02T00:00:00.000Z"]);
  assert.deepEqual(new Set(seen.slice(2)), new Set([null]));
  assert.equal((await read<Facets>("/inbox/facets?deadline=later")).total, 2);
  const bad = Buffer.from(JSON.stringify([1, "00000000-0000-4000-8000-000000000000", "x"])).toString("base64url");
  assert.equal((await call(server, "GET", `/inbox?sort=deadline&cursor=${bad}`)).status, 422);
  const order = async (query: string) =>
    (await read<{ readonly items: readonly { readonly id: string }[] }>(`/inbox?${query}`)).items.map(({ id }) => id);
  assert.deepEqual(await order("sort=newest"), (await order("sort=oldest")).toReversed());
});

interface Priorities {
  readonly items: readonly { readonly title: string; readonly priority: string }[];
  readonly next_cursor: string | null;
}

test("the most urgent come first, of graphs and of programs, then the oldest (interrupts/inbox-count.4)", async () => {
  const metadata = { batch: "urgency" };
  for (const [question, urgency] of [
    ["one", "low"],
    ["two", undefined],
    ["three", "urgent"],
    ["four", "high"],
  ] as const) {
    const thread = await newThread(server, "timed", { metadata });
    await thread.run({ input: { payload: { question, urgency } } });
  }
  for (const [title, priority] of [
    ["five", "urgent"],
    ["six", null],
  ] as const) {
    const { status } = await call(server, "POST", "/requests", { payload: "?", title, priority, metadata });
    assert.equal(status, 201);
  }
  const seen: string[] = [];
  let cursor = "";
  do {
    const query = `sort=priority&values=false&limit=2&metadata=${encodeURIComponent(JSON.stringify(metadata))}`;
    const page: Priorities = await read(`/inbox?${query}${cursor}`);
    seen.push(...page.items.map(({ title, priority }) => `${title} ${priority}`));
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor !== "");
  assert.deepEqual(seen, ["three urgent", "five urgent", "four high", "two normal", "six normal", "one low"]);
  const bad = Buffer.from(JSON.stringify([1, "00000000-0000-4000-8000-000000000000", "x", null])).toString("base64url");
  for (const query of [`sort=priority&cursor=${bad}`, "sort=urgent"]) {
    assert.equal((await call(server, "GET", `/inbox?${query}`)).status, 422, query);
  }
});

for (const wrong of ["URGENT", "P1", "", 1, null, ["urgent"], { level: "urgent" }]) {
  test(`the run that asks with the priority ${JSON.stringify(wrong)} fails, and names it (interrupts/inbox-count.4)`, async () => {
    const thread = await newThread(server, "timed");
    const { body } = await call(server, "POST", `${thread.path}/runs/wait`, {
      assistant_id: "timed",
      input: { payload: { question: "?", urgency: wrong } },
    });
    const text = JSON.stringify(body);
    assert.match(text, /response_schema_refused/);
    assert.match(text, /x-holdpoint-priority is one of urgent, high, normal, low, and not /);
  });
}

test("a request with another priority is refused (interrupts/inbox-count.4)", async () => {
  const { status, text } = await call(server, "POST", "/requests", { payload: "?", priority: "P1" });
  assert.equal(status, 422, text);
  assert.match(text, /priority/);
});
