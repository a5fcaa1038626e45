// Tests of lists with large rows, over real sockets. Rules:
//   big-lists.1. The server streams a long list row by row, with the same rows and pagination as a short one.
//   big-lists.2. A list without states in its `select` reads none.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { type Answer, call, removeFolder } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";

const THREADS = 12;
const UNITS = 400_000;

const server = await startServerHere();
const ids: string[] = [];
for (let at = 0; at < THREADS; at++) {
  const updates = [{ values: { payload: `${at}:${"x".repeat(UNITS)}` }, as_node: "ask" }];
  const body = { metadata: { graph_id: "echo", big: true }, supersteps: [{ updates }] };
  const made: { readonly thread_id: string } = (await call(server, "POST", "/threads", body)).body;
  ids.unshift(made.thread_id);
}
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface WireThread {
  readonly thread_id: string;
  readonly values?: { readonly payload: string };
}

const search = (query: object = {}) =>
  call(server, "POST", "/threads/search", { metadata: { big: true }, limit: 1000, ...query });

suite("a list of big threads", PATIENCE, () => {
  test("has every thread in order, in pieces, with its total (big-lists.1)", async () => {
    const { status, headers, body } = await search();
    const threads: readonly WireThread[] = body;
    assert.deepEqual([status, headers.get("content-length")], [200, null]);
    assert.equal(headers.get("x-pagination-total"), String(THREADS));
    assert.deepEqual(
      threads.map(({ thread_id }) => thread_id),
      ids,
    );
    for (const { values } of threads)
      assert.equal(values?.payload.slice(values.payload.indexOf(":")).length, UNITS + 1);
  });

  test("pages follow each other without a gap (big-lists.1)", async () => {
    const { headers, body } = await search({ limit: 4, offset: 6 });
    assert.deepEqual(
      (body as readonly WireThread[]).map(({ thread_id }) => thread_id),
      ids.slice(6, 10),
    );
    assert.equal(headers.get("x-pagination-next"), "10");
  });

  test("is short without states (big-lists.2)", async () => {
    const { headers, body } = await search({ select: ["thread_id"] });
    assert.notEqual(headers.get("content-length"), null);
    assert.deepEqual(
      body,
      ids.map((thread_id) => ({ thread_id })),
    );
  });

  test("and of threads filtered by a state value (big-lists.1)", async () => {
    const { headers, body } = await search({ values: { payload: `4:${"x".repeat(UNITS)}` } });
    assert.deepEqual([headers.get("x-pagination-total"), (body as readonly unknown[]).length], ["1", 1]);
  });
});

test("a history of big states, and runs of big inputs, come whole (big-lists.1)", PATIENCE, async () => {
  const thread = await newThread(server, "echo");
  const payload = "y".repeat(100_000);
  for (let at = 0; at < 12; at++) await thread.run({ input: { payload: `${at}${payload}` } });
  const history = await call(server, "GET", `${thread.path}/history?limit=1000`);
  const states: readonly { readonly checkpoint: { readonly checkpoint_id: string } }[] = history.body;
  const seen = states.map(({ checkpoint }) => checkpoint.checkpoint_id);
  assert.deepEqual(seen, [...new Set(seen)].toSorted().toReversed());
  const limited = await call(server, "GET", `${thread.path}/history?limit=7`);
  assert.deepEqual(limited.body, states.slice(0, 7));
  const runs = await call(server, "GET", `${thread.path}/runs?limit=1000`);
  assert.equal(runs.headers.get("content-length"), null);
  assert.deepEqual(
    (runs.body as readonly { readonly kwargs: { readonly input: { readonly payload: string } } }[]).map(({ kwargs }) =>
      kwargs.input.payload.replace(payload, ""),
    ),
    Array.from({ length: 12 }, (_, at) => String(11 - at)),
  );
});

const MANY = 12;
const text = (at: number): string => `${at}:${"z".repeat(UNITS)}`;
const readNumber = (value: string): number => Number(value.slice(0, value.indexOf(":")));
const ORDER = Array.from({ length: MANY }, (_, at) => MANY - 1 - at);

interface BigList {
  readonly name: string;
  readonly make: (at: number) => Promise<Answer>;
  readonly list: (page: object) => Promise<Answer>;
}

interface BigRow {
  readonly context?: string;
  readonly payload?: { readonly input: { readonly payload: string } };
  readonly value?: { readonly text: string };
}

const textIn = ({ context, payload, value }: BigRow): string =>
  context ?? payload?.input.payload ?? value?.text ?? assert.fail("a row without its text");

const BIG_LISTS: readonly BigList[] = [
  {
    name: "assistants",
    make: (at) => call(server, "POST", "/assistants", { graph_id: "echo", metadata: { mine: 1 }, context: text(at) }),
    list: (page) =>
      call(server, "POST", "/assistants/search", { metadata: { mine: 1 }, sort_by: "created_at", ...page }),
  },
  {
    name: "versions of an assistant",
    make: (at) => call(server, "PATCH", "/assistants/echo", { context: text(at) }),
    list: (page) => call(server, "POST", "/assistants/echo/versions", page),
  },
  {
    name: "crons",
    make: (at) =>
      call(server, "POST", "/runs/crons", {
        assistant_id: "echo",
        schedule: "0 0 1 1 *",
        input: { payload: text(at) },
      }),
    list: (page) => call(server, "POST", "/runs/crons/search", { sort_by: "created_at", ...page }),
  },
  {
    name: "items of the store",
    make: (at) =>
      call(server, "PUT", "/store/items", { namespace: ["big"], key: `k${at}`, value: { kind: "a", text: text(at) } }),
    list: (page) =>
      call(server, "POST", "/store/items/search", { namespace_prefix: ["big"], filter: { kind: "a" }, ...page }),
  },
];

suite("a list of large rows is streamed, with the rows of a short one (big-lists.1)", PATIENCE, () => {
  for (const { name, make, list } of BIG_LISTS) {
    test(name, async () => {
      for (let at = 0; at < MANY; at++) {
        const { status, text: said } = await make(at);
        assert.ok(status < 300, said.slice(0, 300));
      }
      const seen = async (page: object) => {
        const { status, headers, body } = await list(page);
        assert.deepEqual([status, headers.get("content-length")], [200, null]);
        const rows: readonly BigRow[] = "items" in body ? body["items"] : body;
        return rows.map((row) => readNumber(textIn(row)));
      };
      assert.deepEqual(await seen({ limit: MANY }), ORDER);
      assert.deepEqual(await seen({ limit: 4, offset: 3 }), ORDER.slice(3, 7));
    });
  }
});

test(
  "a page of the inbox ends before its values are larger than 4 MB, and the next one goes on there",
  PATIENCE,
  async () => {
    for (let at = 0; at < 3; at++) {
      const thread = await newThread(server, "echo");
      await thread.run({ input: { payload: text(at).repeat(4) } });
    }
    const pages: number[] = [];
    for (let cursor: string | null = ""; cursor !== null && pages.length < 9;) {
      const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await call(server, "GET", `/inbox?limit=100${more}`);
      const { items, next_cursor: next } = body as { items: readonly unknown[]; next_cursor: string | null };
      pages.push(items.length);
      cursor = next;
    }
    assert.deepEqual(pages, [3, 1]); // with the question of the test above
  },
);
