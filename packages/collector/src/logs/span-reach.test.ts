import assert from "node:assert/strict";
import test from "node:test";
import * as fc from "fast-check";
import type { RequestContext } from "../shared/trace-run.ts";
import type { Span } from "../otlp/span.ts";
import { createSpanReach, type ReachableSpan, type SpanReach } from "./span-reach.ts";

const LIMITS = { spanTtlMs: 1000, keptBytesMax: 800, spansMax: 40 };
const CONTENT: Partial<ReachableSpan> = { isBare: false };
const BARE: Partial<ReachableSpan> = { isBare: true };

function buildSpan(key: string, of: Partial<ReachableSpan>): ReachableSpan {
  const nothing = { joined: [], fresh: [], seen: new Map(), sinceMs: 0, bytes: 100, isBare: false };
  return { key, span: {} as Span, context: {} as RequestContext, ...nothing, ...of };
}

function fill(reach: SpanReach, prefix: string, count: number, of: Partial<ReachableSpan>): void {
  for (let i = 0; i < count; i++) {
    reach.add(buildSpan(`${prefix}${i}`, of));
    reach.trim(0);
  }
}

function inReach(reach: SpanReach, prefix: string, count: number): string {
  return Array.from({ length: count }, (_, i) => (reach.find(`${prefix}${i}`) === undefined ? "-" : "x")).join("");
}

const EVICTIONS: readonly [title: string, fill: (reach: SpanReach) => void, bare: string, complete: string][] = [
  ["below the bounds every span is in reach", (r) => (fill(r, "b", 4, BARE), fill(r, "c", 4, CONTENT)), "xxxx", "xxxx"],
  ["spans with content leave first", (r) => (fill(r, "b", 4, BARE), fill(r, "c", 8, CONTENT)), "xxxx", "----xxxx"],
  [
    "they also leave for newer bare calls",
    (r) => (fill(r, "c", 8, CONTENT), fill(r, "b", 4, BARE)),
    "xxxx",
    "----xxxx",
  ],
  ["a quarter remains for them", (r) => (fill(r, "c", 4, CONTENT), fill(r, "b", 9, BARE)), "---xxxxxx", "--xx"],
  ["without them, bare calls take all", (r) => fill(r, "b", 9, BARE), "-xxxxxxxx", ""],
  ["without bare calls, they take all", (r) => fill(r, "c", 9, CONTENT), "", "-xxxxxxxx"],
];

for (const [title, fillWith, bare, complete] of EVICTIONS) {
  test(`span-reach.1: ${title}`, () => {
    const reach = createSpanReach(LIMITS);
    fillWith(reach);
    assert.equal(inReach(reach, "b", bare.length), bare);
    assert.equal(inReach(reach, "c", complete.length), complete);
  });
}

test("span-reach.1: a span leaves after the time to live", () => {
  const reach = createSpanReach(LIMITS);
  reach.add(buildSpan("bare", { isBare: true, sinceMs: 0 }));
  reach.add(buildSpan("complete", { sinceMs: 500 }));
  reach.trim(999);
  assert.ok(reach.find("bare"));
  reach.trim(1000);
  assert.equal(reach.find("bare"), undefined);
  assert.ok(reach.find("complete"));
  reach.trim(1500);
  assert.equal(reach.find("complete"), undefined);
});

test("span-reach.2: a span with fresh records stays at every bound", () => {
  const reach = createSpanReach(LIMITS);
  const fresh = buildSpan("fresh", {});
  reach.add(fresh);
  fresh.fresh.push({ record: {} as never, origin: null, print: "" });
  fill(reach, "c", 20, CONTENT);
  reach.trim(5000);
  assert.equal(reach.find("fresh"), fresh);
  fresh.fresh.length = 0;
  reach.trim(5000);
  assert.equal(reach.find("fresh"), undefined);
});

test("span-reach.1: whatever is added and removed, the sums are those of the spans in reach", () => {
  const span = fc.record({
    key: fc.nat(30).map(String),
    isBare: fc.boolean(),
    bytes: fc.integer({ min: 1, max: 150 }),
  });
  const step = fc.record({ span, hasJoined: fc.boolean(), kind: fc.constantFrom("add", "add", "remove", "join") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const reach = createSpanReach({ ...LIMITS, spansMax: 12 });
      for (const { hasJoined, kind, span: of } of steps) {
        const joined = hasJoined ? [{} as never] : [];
        const before = reach.find(of.key);
        if (kind === "add") reach.add(buildSpan(of.key, { ...of, joined }));
        if (kind === "remove" && before !== undefined) reach.remove(before);
        if (kind === "join" && before !== undefined) {
          reach.remove(before);
          Object.assign(before, { isBare: false, joined: [{} as never], bytes: before.bytes + 10 });
          reach.add(before);
        }
        reach.trim(0);
        const all = Array.from({ length: 31 }, (_, i) => reach.find(String(i))).filter((one) => one !== undefined);
        assert.ok(all.reduce((sum, { bytes }) => sum + bytes, 0) <= 800);
        assert.ok(all.length <= 12);
        assert.equal(reach.joinedSpans(), all.filter((one) => one.joined.length > 0).length);
        if (kind === "add") assert.ok(reach.find(of.key), "the newest span is in reach");
      }
      for (let i = 0; i <= 30; i++) reach.remove(reach.find(String(i)) ?? buildSpan("none", {}));
      fill(reach, "b", 8, BARE);
      assert.equal(inReach(reach, "b", 8), "xxxxxxxx", "no byte is counted that is gone");
    }),
    { numRuns: 100 },
  );
});
