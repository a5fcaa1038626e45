// The contract of the trace store (write.1, write.2, query.1, query.2): both adapters keep it. Random uploads have printed
// seeds.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import * as fc from "fast-check";
import { queryWords } from "@holdpoint/api/text/search-words.ts";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { EVERY_TRACE, type TracePage, type TraceSearch } from "./query.ts";
import { changeOfRun, changesOfBatch, type RunChange } from "./run-change.ts";
import type { TraceStore } from "./store.ts";

export interface OpenedStore {
  readonly store: TraceStore;
  /** Bytes of all runs, and of all traces by their sums. */
  readonly sumBytes: () => Promise<{ readonly runs: number; readonly traces: number }>;
}

export type OpenTraceStore = (t: TestContext, limits?: { bytes?: number }) => Promise<OpenedStore>;

export const START = Date.parse("2026-01-01T00:00:00Z");
export const MIB = 1024 * 1024;
export const uuid = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;

/** Run `n` of trace `trace`: the root if they are equal. */
export function run(trace: number, n: number, more: JsonObject = {}): JsonObject {
  const segment = (id: number): string => `20260101T000000000000Z${uuid(id)}`;
  const isRoot = trace === n;
  return {
    id: uuid(n),
    trace_id: uuid(trace),
    dotted_order: isRoot ? segment(n) : `${segment(trace)}.${segment(n)}`,
    ...(isRoot ? {} : { parent_run_id: uuid(trace) }),
    name: `run ${n}`,
    run_type: isRoot ? "chain" : "llm",
    session_name: "tests",
    start_time: "2026-01-01T00:00:00.000000Z",
    end_time: "2026-01-01T00:00:01.500000Z",
    inputs: { question: n },
    ...more,
  };
}

export const post = (...runs: JsonObject[]): readonly RunChange[] => changesOfBatch({ post: runs });
export const names = (items: readonly TraceItem[]): readonly string[] => items.map(({ name }) => name);

const SECOND = 1_000_000;
const at = (second: number): string => new Date(START + second * 1000).toISOString();
const agent = (kind: "run" | "wait", ended?: "pause"): JsonObject => ({
  extra: { metadata: { holdpoint_kind: kind, ...(ended === undefined ? {} : { ended_by: ended }) } },
});
const span = (from: number, to: number): JsonObject => ({ start_time: at(from), end_time: at(to) });
const PAUSED = run(1, 1, { ...span(0, 1), ...agent("run", "pause"), outputs: { a: "at the pause" } });
const WAIT = run(1, 2, { ...span(1, 61), ...agent("wait") });
const BESIDE = run(1, 3, { ...span(1, 31), ...agent("wait") });
const AGAIN = run(1, 4, { ...span(61, 62), ...agent("run", "pause") });
const SECOND_WAIT = run(1, 5, { ...span(62, 72), ...agent("wait") });
const DONE = run(1, 6, { ...span(72, 75), ...agent("run"), outputs: { a: "done" } });
const FAILED = run(1, 6, { ...span(72, 75), ...agent("run"), error: "broke" });
const NODE = run(1, 7, { ...span(72, 74), outputs: { a: "of a node" } });

interface Told {
  readonly status: string;
  readonly latency: number | null;
  readonly wait: number;
  readonly since: number | null;
  readonly output: string | null;
}
const STORIES: readonly (readonly [name: string, runs: readonly JsonObject[], told: Told])[] = [
  ["a pause waits", [PAUSED], { status: "waiting", latency: 1, wait: 0, since: 1, output: null }],
  [
    "an answered pause goes on",
    [PAUSED, WAIT],
    { status: "pending", latency: null, wait: 60, since: null, output: null },
  ],
  [
    "waits beside each other count once, and the next pause waits",
    [PAUSED, WAIT, BESIDE, AGAIN],
    { status: "waiting", latency: 62, wait: 60, since: 62, output: null },
  ],
  [
    "the last run ends the trace",
    [PAUSED, WAIT, AGAIN, SECOND_WAIT, NODE, DONE],
    { status: "success", latency: 75, wait: 70, since: null, output: "a: done" },
  ],
  [
    "the last run fails the trace",
    [PAUSED, WAIT, AGAIN, SECOND_WAIT, FAILED],
    { status: "error", latency: 75, wait: 70, since: null, output: null },
  ],
  [
    "runs of other senders never wait",
    [run(1, 1, span(0, 1)), run(1, 2, { ...span(1, 61), ...agent("run", "pause") })],
    { status: "success", latency: 1, wait: 0, since: null, output: null },
  ],
];

const ASKED = {
  messages: [
    { role: "user", content: "before" },
    { role: "user", content: "Refund **order** 4711?" },
  ],
};
const BLOCKS = {
  messages: [
    [
      {
        kwargs: {
          content: [
            { type: "text", text: "two" },
            { type: "text", text: "parts" },
          ],
        },
      },
    ],
  ],
};
const PREVIEWS: readonly (readonly [inputs: JsonObject, input: string | null])[] = [
  [ASKED, "Refund order 4711?"],
  [BLOCKS, "two parts"],
  [{ order: 4711, note: "x\ny" }, "order: 4711 · note: x y"],
  [{ messages: [] }, null],
  [
    { messages: [{ role: "assistant", content: "", tool_calls: [{ function: { name: "refund", arguments: "{}" } }] }] },
    "refund {}",
  ],
  [{ messages: [{ role: "assistant", content: [{ type: "refusal", refusal: "No." }] }] }, "No."],
  [{ text: "long ".repeat(100) }, `text: ${"long ".repeat(100)}`.slice(0, 159) + "…"],
];

export function testTraceStore(name: string, open: OpenTraceStore): void {
  test(`${name}: a trace sums up its runs`, async (t) => {
    const { store } = await open(t);
    const usage = { usage_metadata: { input_tokens: 7, output_tokens: 3, total_cost: 0.5 }, ls_model_name: "m-1" };
    const failed = run(1, 3, { error: "broke", extra: { metadata: usage } });
    await store.write(post(run(1, 1, { name: "root" }), run(1, 2, { extra: { metadata: usage } }), failed));
    const [trace] = (await store.search(EVERY_TRACE)).items;
    assert.deepEqual(trace && { ...trace, trace_id: undefined, start_us: undefined }, {
      trace_id: undefined,
      project: "tests",
      name: "root",
      status: "success",
      error: null,
      start_us: undefined,
      latency_us: 1_500_000,
      wait_us: 0,
      waiting_since_us: null,
      input: "question: 1",
      output: null,
      runs: 3,
      errors: 1,
      input_tokens: 14,
      output_tokens: 6,
      cost: 1,
      thread_id: null,
      models: ["m-1"],
    });
  });

  test(`${name}: a run is posted at its start and patched at its end; readers see the uploaded fields`, async (t) => {
    const { store } = await open(t);
    const { end_time: _end, ...begun } = run(1, 1);
    await store.write(post(begun));
    assert.equal((await store.search({ ...EVERY_TRACE, status: "pending" })).items.length, 1);
    const outputs = { answer: 12345678901234567890n.toString(), deep: [{ a: null }] };
    await store.write([changeOfRun("patch", { end_time: "2026-01-01T00:00:02Z", outputs }, uuid(1))]);
    const shown = JSON.parse((await store.run(uuid(1))) ?? "null") as JsonObject;
    assert.deepEqual([shown["inputs"], shown["outputs"], shown["status"]], [{ question: 1 }, outputs, "success"]);
    assert.equal((await store.search(EVERY_TRACE)).items[0]?.latency_us, 2_000_000);
  });

  for (const [story, runs, told] of STORIES) {
    for (const order of ["in order", "backwards", "at once"]) {
      test(`${name}: ${story}, ${order} (story.1, story.2, story.3)`, async (t) => {
        const { store } = await open(t);
        if (order === "at once") await store.write(post(...runs));
        else for (const one of order === "backwards" ? runs.toReversed() : runs) await store.write(post(one));
        const [trace] = (await store.search(EVERY_TRACE)).items;
        assert.deepEqual(
          trace && {
            status: trace.status,
            latency: trace.latency_us === null ? null : trace.latency_us / SECOND,
            wait: trace.wait_us / SECOND,
            since: trace.waiting_since_us === null ? null : trace.waiting_since_us / SECOND - START / 1000,
            output: trace.output,
          },
          told,
        );
      });
    }
  }

  test(`${name}: a list shows the beginning of inputs and of the result (preview.1)`, async (t) => {
    const { store } = await open(t);
    for (const [at, [inputs, input]] of PREVIEWS.entries()) {
      await store.write(post(run(10 * at + 10, 10 * at + 10, { inputs, name: String(at) })));
      assert.equal((await store.search({ ...EVERY_TRACE, name: String(at) })).items[0]?.input, input);
    }
  });

  test(`${name}: a search finds words of names, inputs, outputs and errors, together in a trace`, async (t) => {
    const { store } = await open(t);
    await store.write(post(run(10, 10, { name: "refund_agent", inputs: { question: "Where is Café 4711?" } })));
    await store.write(
      post(run(10, 11, { outputs: { text: ["on\nthe way"] } }), run(20, 20, { error: "a broken refund" })),
    );
    const found = async (q: string): Promise<number> =>
      (await store.search({ ...EVERY_TRACE, words: queryWords(q) })).items.length;
    const cases: readonly (readonly [string, number])[] = [
      ["cafe", 1],
      ["CAF way", 1],
      ["refund", 2],
      ["broken refund", 1],
      ["cafe broken", 0],
      ["4711 on", 1],
      ['" OR a*', 0],
      ["", 2],
    ];
    for (const [q, count] of cases) assert.equal(await found(q), count, q);
    await store.deleteTrace(uuid(10));
    assert.deepEqual([await found("cafe"), await found("refund")], [0, 1]);
  });

  test(`${name}: projects, and a run with the cost below it, its files and the result (replies.1, replies.2)`, async (t) => {
    const { store } = await open(t);
    assert.deepEqual(await store.projects(), []);
    const cost = { extra: { metadata: { usage_metadata: { total_cost: 0.5 } } } };
    await store.write(
      post(run(1, 1), run(1, 2, { ...cost, outputs: { a: "first" } }), run(1, 3, { ...cost, outputs: { a: 2 } })),
    );
    const [other] = post(run(9, 9, { session_name: "shop" }));
    assert.ok(other);
    await store.write([{ ...other, attachments: [{ name: "b", type: "image/png", bytes: Buffer.from("xyz") }] }]);
    assert.deepEqual(await store.projects(), [
      { name: "shop", traces: 1 },
      { name: "tests", traces: 1 },
    ]);
    const shown = async (n: number): Promise<JsonObject> =>
      JSON.parse((await store.run(uuid(n))) ?? "null") as JsonObject;
    const root = await shown(1);
    assert.equal(root["total_cost"], 1);
    assert.deepEqual(root["final_output"], { run_id: uuid(3), name: "run 3", outputs: { a: 2 } });
    assert.deepEqual((await shown(2))["total_cost"], 0.5);
    assert.deepEqual((await shown(9))["attachments"], [{ name: "b", type: "image/png", bytes: 3 }]);
    assert.deepEqual(
      [await store.run(uuid(77)), await store.trace(uuid(77)), await store.attachment(uuid(9), "c")],
      [null, null, null],
    );
    const tree = JSON.parse((await store.trace(uuid(1))) ?? "null") as { readonly runs: readonly JsonObject[] };
    assert.deepEqual(
      tree.runs.map(({ id }) => id),
      [uuid(1), uuid(2), uuid(3)],
    );
    assert.deepEqual([await store.deleteTrace(uuid(1)), await store.deleteTrace(uuid(1))], [true, false]);
    assert.deepEqual([await store.run(uuid(2)), (await store.search(EVERY_TRACE)).items.length], [null, 1]);
    await store.write(post(run(20, 21, { session_name: "guess" }), run(30, 30, { session_name: "shop" })));
    assert.deepEqual(await store.projects(), [
      { name: "guess", traces: 1 },
      { name: "shop", traces: 2 },
    ]);
    await store.write(post(run(20, 20, { session_name: "shop" })));
    assert.deepEqual(await store.projects(), [{ name: "shop", traces: 3 }], "a trace has the project of its root");
  });

  test(`${name}: children before their root, and a patch of an unknown run`, async (t) => {
    const { store } = await open(t);
    await store.write(post(run(1, 2)));
    assert.equal((await store.search(EVERY_TRACE)).items[0]?.status, "incomplete");
    const { dropped } = await store.write([changeOfRun("patch", { end_time: "2026-01-01T00:00:02Z" }, uuid(9))]);
    assert.equal(dropped, 1);
    await store.write(post(run(1, 1, { name: "late root" })));
    const { items } = await store.search(EVERY_TRACE);
    assert.deepEqual([names(items), items[0]?.status, items[0]?.runs], [["late root"], "success", 2]);
  });

  test(`${name}: in any order, and with repeats, the sums are those of the runs (write.1, write.2)`, async (t) => {
    const { store, sumBytes } = await open(t);
    const change = fc.record({
      trace: fc.nat(3),
      child: fc.nat(4),
      tokens: fc.nat(100),
      failed: fc.boolean(),
      text: fc.string({ maxLength: 50 }),
      patch: fc.boolean(),
    });
    const seed = Math.floor(Math.random() * 0x7fff_ffff);
    t.diagnostic(`seed ${seed}`);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 40 }), async (changes) => {
        for (const { trace, child, tokens, failed, text, patch } of changes) {
          const root = trace * 100;
          const extra = { metadata: { usage_metadata: { input_tokens: tokens } } };
          const body = run(root, root + child, { outputs: { text }, extra, ...(failed ? { error: text } : {}) });
          await store.write([changeOfRun(patch ? "patch" : "post", body, null)]);
        }
        const { items } = await store.search(EVERY_TRACE);
        let [allRuns, tokens, errors] = [0, 0, 0];
        for (const { trace_id: id } of items) {
          const trace = JSON.parse((await store.trace(id)) ?? "null") as { readonly runs: readonly JsonObject[] };
          allRuns += trace.runs.length;
          for (const one of trace.runs) {
            tokens += Number(one["input_tokens"] ?? 0);
            errors += one["status"] === "error" ? 1 : 0;
          }
        }
        const sum = (of: (item: TraceItem) => number): number => items.reduce((total, item) => total + of(item), 0);
        assert.equal(
          allRuns,
          sum((item) => item.runs),
        );
        assert.deepEqual([tokens, errors], [sum((item) => item.input_tokens), sum((item) => item.errors)]);
      }),
      { numRuns: 30, seed },
    );
    const { runs, traces } = await sumBytes();
    assert.equal(runs, traces);
  });

  test(`${name}: search: every filter, alone and combined`, async (t) => {
    const { store } = await open(t);
    const extra = (metadata: JsonObject): JsonObject => ({ extra: { metadata } });
    await store.write(
      post(
        run(1, 1, { name: "Refund agent", session_name: "shop", ...extra({ thread_id: "th-1", tenant: "a'b" }) }),
        run(2, 2, { name: "other", start_time: "2026-01-02T00:00:00Z", end_time: "2026-01-02T00:00:09Z", error: "no" }),
        run(3, 3, { name: "third", tags: ["beta"], ...extra({ ls_model_name: "m-2", retries: 3 }) }),
      ),
    );
    const cases: readonly [Partial<TraceSearch>, readonly string[]][] = [
      [{}, ["other", "third", "Refund agent"]],
      [{ project: "shop" }, ["Refund agent"]],
      [{ name: "refund" }, ["Refund agent"]],
      [{ name: "%" }, []],
      [{ status: "error" }, ["other"]],
      [{ model: "m-2" }, ["third"]],
      [{ threadId: "th-1" }, ["Refund agent"]],
      [{ tag: "beta" }, ["third"]],
      [{ metadata: [["tenant", "a'b"]] }, ["Refund agent"]],
      [{ metadata: [["retries", "3"]], model: "m-2" }, ["third"]],
      [{ metadata: [["tenant", "' OR 1=1 --"]] }, []],
      [{ words: ["second", "agent"] }, []],
      [{ words: ["agent"], project: "shop" }, ["Refund agent"]],
      [{ latencyMin: 2_000_000 }, ["other"]],
      [{ latencyMax: 2_000_000 }, ["third", "Refund agent"]],
      [{ from: Date.parse("2026-01-02T00:00:00Z") * 1000 }, ["other"]],
      [{ to: Date.parse("2026-01-02T00:00:00Z") * 1000 }, ["third", "Refund agent"]],
    ];
    for (const [search, expected] of cases) {
      assert.deepEqual(
        names((await store.search({ ...EVERY_TRACE, ...search })).items),
        expected,
        JSON.stringify(search),
      );
    }
  });

  test(`${name}: pages have no gap and no repeat, also while traces arrive (query.2)`, async (t) => {
    const { store } = await open(t);
    for (let trace = 1; trace <= 25; trace++) await store.write(post(run(trace, trace)));
    const seen: string[] = [];
    let cursor: TraceSearch["cursor"] = null;
    do {
      const page: TracePage = await store.search({ ...EVERY_TRACE, limit: 10, cursor });
      seen.push(...names(page.items));
      cursor = page.next;
      const at = { start_time: "2026-02-01T00:00:00Z", name: "newer" };
      await store.write(post(run(100 + seen.length, 100 + seen.length, at)));
    } while (cursor !== null);
    assert.equal(seen.length, 25);
    assert.equal(new Set(seen).size, 25);
  });

  test(`${name}: attachments belong to their run and count towards the limit`, async (t) => {
    const { store, sumBytes } = await open(t);
    const bytes = Buffer.from("picture");
    const [change] = post(run(1, 1));
    assert.ok(change);
    const before = await store.write([change]);
    assert.equal(before.stored, 1);
    const sums = await sumBytes();
    await store.write([{ ...change, attachments: [{ name: "p", type: "image/png", bytes }] }]);
    assert.deepEqual(await sumBytes(), { runs: sums.runs + bytes.length, traces: sums.traces + bytes.length });
    assert.deepEqual(Buffer.from((await store.attachment(uuid(1), "p"))?.bytes ?? []), bytes);
  });

  test(`${name}: a cost that a later upload removes or corrects does not stay in the sum (write.2)`, async (t) => {
    const { store } = await open(t);
    const usage = (cost: number | null): JsonObject => ({
      extra: { metadata: { usage_metadata: { total_cost: cost } } },
    });
    await store.write(post(run(1, 1), run(1, 2, usage(1)), run(1, 3, usage(2))));
    await store.write(post(run(1, 2, usage(0.5)), run(1, 3, usage(null))));
    assert.equal((await store.search(EVERY_TRACE)).items[0]?.cost, 0.5);
  });

  test(`${name}: one trace alone cannot fill the store: excess runs are dropped and counted (write.3)`, async (t) => {
    const { store, sumBytes } = await open(t, { bytes: MIB });
    const big = { text: "x".repeat(200_000) };
    let dropped = 0;
    for (let n = 1; n <= 5; n++) dropped += (await store.write(post(run(1, n, { outputs: big })))).dropped;
    assert.equal(dropped, 3);
    assert.ok((await sumBytes()).traces <= MIB / 2);
  });

  test(`${name}: an upload that fails half way leaves nothing, also not in the sums`, async (t) => {
    const { store } = await open(t);
    const hostile = { ...changeOfRun("post", run(1, 2), null), fields: { outputs: "{not json" } };
    await assert.rejects(() => store.write([...post(run(1, 1)), hostile]));
    assert.deepEqual((await store.search(EVERY_TRACE)).items, []);
    assert.equal(await store.run(uuid(1)), null);
  });
}
