// Sampling: one decision per trace, the same on every replica; a kept trace is whole.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { hexId } from "../../../../test/fakes/otlp.ts";
import { NO_ATTRIBUTES, NO_RESOURCE, NO_SCOPE, NO_TIME, type Span } from "../otlp/span.ts";
import { hashOfKey } from "../shared/key-hash.ts";
import { type Tenant, hashTenantId } from "../shared/tenants.ts";
import { SampleSchema } from "./sample-schema.ts";
import { createTraceSampler, type TraceSampler } from "./trace-sampler.ts";

function buildSpan(trace: number, extra: Partial<Span> = {}): Span {
  return {
    traceId: hexId(trace + 1, 16),
    spanId: hexId(1, 8),
    parentSpanId: "",
    traceState: "",
    flags: 0,
    name: "span",
    kind: 1,
    start: NO_TIME,
    end: NO_TIME,
    attributes: NO_ATTRIBUTES,
    events: [],
    links: [],
    statusCode: 0,
    statusMessage: "",
    droppedAttributes: 0,
    droppedEvents: 0,
    droppedLinks: 0,
    resource: NO_RESOURCE,
    scope: NO_SCOPE,
    ...extra,
  };
}

const buildTenant = (apiKey: string, tenantId = ""): Tenant => ({
  id: hashTenantId(apiKey, tenantId),
  apiKey,
  tenantId,
});

const FAILED: Partial<Span> = { statusCode: 2 };
const GOLD: Partial<Span> = { attributes: { keys: ["user.tier"], values: ["gold"] } };

function start(rules: unknown, waitingBytesMax = 1_000_000) {
  const clock = createFakeClock();
  const ports = { clock, quietUntil: clock.monotonic, isFailedRecord: () => false };
  const sampler: TraceSampler = createTraceSampler({ rules: SampleSchema.parse(rules), waitingBytesMax }, ports);
  const passed: Span[] = [];
  const discarded: Span[] = [];
  return {
    clock,
    sampler,
    passed,
    discarded,
    offer: (span: Span, request: { readonly project?: string; readonly tenant?: Tenant } = {}): void => {
      sampler.offer({
        item: span,
        traceId: span.traceId,
        tenant: buildTenant("key"),
        project: "",
        ...request,
        pass: () => passed.push(span),
        discard: () => discarded.push(span),
      });
    },
  };
}

describe("sampling of traces", () => {
  test("a rate keeps that part of the traces, and every replica keeps the same ones", () => {
    const [one, other] = [start({ rate: 0.25 }), start({ rate: 0.25 })];
    for (let trace = 0; trace < 4000; trace++) one.offer(buildSpan(trace));
    for (let trace = 3999; trace >= 0; trace--) other.offer(buildSpan(trace));
    const ids = (spans: readonly Span[]): string[] => spans.map(({ traceId }) => traceId).sort();
    assert.deepEqual(ids(one.passed), ids(other.passed));
    assert.ok(one.passed.length > 880 && one.passed.length < 1120, String(one.passed.length));
    assert.equal(one.discarded.length, 4000 - one.passed.length);
    assert.equal(one.sampler.stats().undecidedTraces, 0);
  });

  test("a rule can name keys by their hash: their traces are kept at once, and no other trace waits for such a rule", () => {
    const rules = [
      { key_sha256: [hashOfKey("gold"), hashOfKey("silver")] },
      { key_sha256: [hashOfKey("bronze")], error: true },
    ];
    const { discarded, offer, passed, sampler } = start({ rate: 0, keep: rules });
    for (const [trace, key] of ["gold", "silver", "bronze", "tin"].entries())
      offer(buildSpan(trace), { tenant: buildTenant(key, "any") });
    assert.deepEqual(
      [passed, discarded].map((spans) => spans.map(({ traceId }) => traceId)),
      [[buildSpan(0).traceId, buildSpan(1).traceId], [buildSpan(3).traceId]],
    );
    assert.equal(sampler.stats().undecidedTraces, 1);
    offer(buildSpan(2, FAILED), { tenant: buildTenant("bronze") });
    offer(buildSpan(2, FAILED), { tenant: buildTenant("bronze", "any") });
    assert.equal(passed.length, 2 + 1 + 2, "a trace belongs to one tenant");
  });

  test("a rule needs the hash, not the key", () => {
    assert.throws(() => SampleSchema.parse({ rate: 0, keep: [{ key_sha256: ["gold"] }] }), /SHA-256 of the key/);
  });

  test("a smaller rate keeps a part of what a larger one keeps", () => {
    const [small, large] = [start({ rate: 0.1 }), start({ rate: 0.3 })];
    for (let trace = 0; trace < 500; trace++) for (const each of [small, large]) each.offer(buildSpan(trace));
    const kept = new Set(large.passed.map(({ traceId }) => traceId));
    assert.ok(small.passed.every(({ traceId }) => kept.has(traceId)));
  });

  test("a trace with an error is kept whole: spans before it, and spans after it", async () => {
    const { clock, discarded, offer, passed } = start({ rate: 0, keep: [{ error: true }], wait_ms: 1000 });
    offer(buildSpan(1, { spanId: "a" }));
    offer(buildSpan(2, { spanId: "b" }));
    offer(buildSpan(1, { spanId: "c", ...FAILED }));
    assert.deepEqual(
      passed.map(({ spanId }) => spanId),
      ["a", "c"],
    );
    await clock.advance(5000);
    offer(buildSpan(1, { spanId: "d" }));
    offer(buildSpan(2, { spanId: "e", ...FAILED }));
    assert.deepEqual(
      passed.map(({ spanId }) => spanId),
      ["a", "c", "d"],
    );
    assert.deepEqual(
      discarded.map(({ spanId }) => spanId),
      ["b", "e"],
    ); // decided once
  });

  test("a trace waits while spans of it arrive", async () => {
    const { clock, offer, passed } = start({ rate: 0, keep: [{ error: true }], wait_ms: 1000 });
    for (let n = 0; n < 10; n++) {
      offer(buildSpan(1));
      await clock.advance(900);
    }
    offer(buildSpan(1, FAILED));
    assert.equal(passed.length, 11);
  });

  test("trace-sampler.5 after a restart, a trace with an emitted run is kept, of its own tenant only", async () => {
    const { clock, discarded, offer, passed, sampler } = start({ rate: 0, keep: [{ error: true }], wait_ms: 1000 });
    sampler.recall(buildTenant("key").id, buildSpan(1).traceId);
    offer(buildSpan(1, { spanId: "late" }));
    offer(buildSpan(1, { spanId: "other" }), { tenant: buildTenant("key", "other") });
    await clock.advance(5000);
    assert.deepEqual(
      [passed, discarded].map((spans) => spans.map(({ spanId }) => spanId)),
      [["late"], ["other"]],
    );
    assert.equal(sampler.stats().keptTraces, 0, "the earlier process has counted it");
  });

  test("trace-sampler.5 an item that is done keeps its trace, and is not passed on again", async () => {
    const { clock, discarded, offer, passed, sampler } = start({ rate: 0, keep: [{ error: true }], wait_ms: 1000 });
    const note = (span: Span): void =>
      sampler.note({ item: span, traceId: span.traceId, tenant: buildTenant("key"), project: "" });
    offer(buildSpan(1, { spanId: "waits" }));
    note(buildSpan(1, FAILED));
    note(buildSpan(2));
    offer(buildSpan(2, { spanId: "no reason" }));
    await clock.advance(5000);
    const ids = [passed, discarded].map((spans) => spans.map(({ spanId }) => spanId));
    assert.deepEqual(ids, [["waits"], ["no reason"]]);
    assert.equal(sampler.waitingBytes(), 0);
  });

  const RULES: readonly (readonly [rule: object, matching: Partial<Span>, request: object])[] = [
    [{ attribute: "user.tier", equals: "go*" }, GOLD, {}],
    [{ attribute: "user.tier" }, GOLD, {}],
    [{ attribute: "env", equals: "prod" }, { resource: { attributes: { keys: ["env"], values: ["prod"] } } }, {}],
    [{ span: "chat *" }, { name: "chat gpt" }, {}],
    [{ scope: "openai" }, { scope: { ...NO_SCOPE, name: "openai" } }, {}],
    [
      { error: true },
      { events: [{ name: "exception", time: NO_TIME, attributes: NO_ATTRIBUTES, droppedAttributes: 0 }] },
      {},
    ],
    [{ error: true }, { attributes: { keys: ["error.type"], values: ["TimeoutError"] } }, {}],
    [{ error: true }, { attributes: { keys: ["gen_ai.tool.status"], values: ["error"] } }, {}],
    [{ projects: ["vip"] }, {}, { project: "vip" }],
    [{ tenants: ["acme"] }, {}, { tenant: buildTenant("key", "acme") }],
  ];
  for (const [rule, matching, request] of RULES)
    test(`the rule ${JSON.stringify(rule)} keeps a trace that it matches, and no other`, () => {
      const { offer, passed, sampler } = start({ rate: 0, keep: [rule] });
      offer(buildSpan(1, matching), request);
      offer(buildSpan(2));
      sampler.drain();
      assert.equal(passed.length, 1);
    });

  test("a rule without conditions on spans decides at once", () => {
    const { discarded, offer } = start({ rate: 0, keep: [{ projects: ["vip"] }] });
    offer(buildSpan(1));
    assert.equal(discarded.length, 1);
  });

  test("a rule keeps its own part of the traces", () => {
    const { offer, passed, sampler } = start({ rate: 0, keep: [{ error: true, rate: 0.5 }] });
    for (let trace = 0; trace < 1000; trace++) offer(buildSpan(trace, FAILED));
    sampler.drain();
    assert.ok(passed.length > 430 && passed.length < 570, String(passed.length));
  });

  test("at the limit the oldest trace is decided early, and nothing is lost from the count", () => {
    const { discarded, offer, passed, sampler } = start({ rate: 0, keep: [{ error: true }] }, 10_000);
    for (let trace = 0; trace < 50; trace++) offer(buildSpan(trace));
    assert.ok(sampler.waitingBytes() <= 10_000);
    assert.ok(sampler.stats().decidedEarly > 0);
    sampler.drain();
    assert.equal(passed.length + discarded.length, 50);
    assert.equal(sampler.waitingBytes(), 0);
  });
});
