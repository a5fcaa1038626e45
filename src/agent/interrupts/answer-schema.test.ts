// Tests of the check of an answer against its schema. Checked: answer-schema.1, answer-schema.2, linear-pattern.1 to
// linear-pattern.3, bounded-work.1 and check-budget.1. A pattern that backtracks would keep this file from ever ending.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiError } from "../../base/api-error.ts";
import { boundedWork } from "../../base/bounded-work.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import { checkAnswer } from "./answer-schema.ts";
import { createCheckBudget } from "./check-budget.ts";

const LONG = `${"a".repeat(20_000)}!`;
const messagesOf = (schema: JsonObject, answer: Json): readonly string[] =>
  (checkAnswer(schema, answer, createCheckBudget()) ?? []).map(({ message }) => message);

const BACKTRACKING: readonly (readonly [pattern: string, fits: string])[] = [
  ["^(a+)+$", "aaa"],
  ["^(a|aa)+$", "aaa"],
  ["^(a|a)*$", "aaa"],
  [String.raw`^(\s|a)+$`, "a a"],
  ["^(a*)*$", "aaa"],
  ["(a+a+)+b", "aab"],
  ["^(.*a){3}$", "aaa"],
  ["^([a-z]+)*$", "abc"],
];

for (const [pattern, fits] of BACKTRACKING) {
  test(`${pattern} refuses 20 KB that do not match, as a value, as a member's name and in a union (linear-pattern.1)`, (t) => {
    const slowest = probe(t);
    const places: readonly (readonly [JsonObject, Json])[] = [
      [{ type: "string", pattern }, LONG],
      [{ type: "object", propertyNames: { pattern } }, { [LONG]: 1 }],
      [{ type: "object", patternProperties: { [pattern]: {} }, additionalProperties: false }, { [LONG]: 1 }],
      [{ anyOf: [{ type: "string", pattern }, { type: "null" }] }, LONG],
    ];
    for (const [schema, answer] of places) {
      const messages = slowest(() => messagesOf(schema, answer));
      assert.equal(messages.length, 1);
      assert.doesNotMatch(messages[0] ?? "", /stopped/);
      const fitting = JSON.parse(JSON.stringify(answer).replace(LONG, fits)) as Json;
      assert.deepEqual(messagesOf(schema, fitting), []);
    }
  });
}

test("JavaScript's engine checks patterns that RE2 cannot express, within a time limit (linear-pattern.3, answer-schema.1)", (t) => {
  const slowest = probe(t);
  const schema = { type: "string", pattern: "^(?=.*[0-9])(a+)+[0-9]$" };
  assert.deepEqual(messagesOf(schema, "aaa7"), []);
  assert.match(messagesOf(schema, "aaa")[0] ?? "", /must match pattern/);
  const [message] = slowest(() => messagesOf(schema, `7${LONG}`.slice(1) + "7!"));
  assert.match(message ?? "", /stopped after 100 ms/);
});

test("a text that RE2 accepts and JavaScript's engine cannot get through is refused (linear-pattern.2)", () => {
  assert.match(messagesOf({ type: "string", pattern: "^(?:(a+)+b|a*!)$" }, LONG)[0] ?? "", /stopped after 100 ms/);
});

test("a schema that multiplies itself is stopped too (answer-schema.1)", () => {
  const defs: Record<string, Json> = { d0: { type: "object", properties: { a: { type: "string" } } } };
  for (let at = 1; at < 40; at++) {
    const ref = { $ref: `#/$defs/d${at - 1}` };
    defs[`d${at}`] = { allOf: [ref, ref] };
  }
  assert.match(messagesOf({ $defs: defs, $ref: "#/$defs/d39" }, { a: "x" })[0] ?? "", /stopped/);
});

test("a pattern has JSON Schema's semantics", () => {
  const rows: readonly (readonly [pattern: string, text: string, fits: boolean])[] = [
    ["^.$", "\u{1f600}", true],
    ["^\\s[\\s]$", "\u00a0\u3000", true],
    ["^[^\\s]$", "\u00a0", false],
    ["^\\u0061$", "a", true],
    ["^(?<year>\\d{4})$", "2026", true],
    ["a.c", "a\rc", false],
    ["b", "abc", true],
    ["^\\S$", "\u00a0", false],
  ];
  for (const [pattern, text, fits] of rows) {
    assert.equal(messagesOf({ type: "string", pattern }, text).length === 0, fits, pattern);
  }
});

test("a pattern that is none leaves the check to the node, and the engine as it was", () => {
  const native = globalThis.RegExp;
  assert.equal(checkAnswer({ type: "string", pattern: "(" }, "a"), null);
  assert.equal(globalThis.RegExp, native);
});

test("a check that is stopped leaves the engine as it was (answer-schema.2)", () => {
  const native = globalThis.RegExp;
  const slow = { type: "string", pattern: "^(?=(a+)+b)(a+)+$" };
  assert.match(messagesOf(slow, "a".repeat(40)).join(), /takes too long/);
  assert.equal(globalThis.RegExp, native);
});

test("the limit stops work in the middle, errors propagate, and bounded work nests (bounded-work.1)", () => {
  const forever = (): never => {
    for (;;);
  };
  assert.equal(boundedWork(20, forever), "too_slow");
  assert.throws(() => boundedWork(1000, () => assert.fail("mine")), /mine/);
  assert.deepEqual(
    boundedWork(1000, () => boundedWork(1000, () => 7)),
    { result: { result: 7 } },
  );
});

test("work that the machine held up is not too slow: it gets its CPU time (bounded-work.3, bounded-work.4)", () => {
  let attempts = 0;
  // The error of Node's interruption, thrown by hand: a limit that passes by the clock would hang on the machine.
  const heldUp = (times: number) => (): string => {
    if (++attempts <= times) throw Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
    return "done";
  };
  const limitMs = 60_000;
  const noCpuTime = (): number => 0;
  assert.deepEqual(boundedWork(limitMs, heldUp(2), noCpuTime), { result: "done" });
  assert.equal(attempts, 3);
  attempts = 0;
  assert.equal(boundedWork(limitMs, heldUp(100), noCpuTime), "too_slow");
  assert.equal(attempts, 3);
  attempts = 0;
  let cpuMs = 0;
  assert.equal(
    boundedWork(limitMs, heldUp(100), () => (cpuMs += limitMs)),
    "too_slow",
  );
  assert.equal(attempts, 1);
});

test("all attempts together take at most two and a half times the limit (bounded-work.5)", () => {
  let cpuMs = 0;
  const clocks: number[] = [];
  const heldUp = (): never => {
    cpuMs += 80; // of 100 that it may take
    clocks.push(cpuMs);
    throw Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
  };
  assert.equal(
    boundedWork(100, heldUp, () => cpuMs),
    "too_slow",
  );
  assert.deepEqual(clocks, [80, 160, 240]);
  const used = (): number => (cpuMs += 1000);
  assert.equal(boundedWork(100, heldUp, used), "too_slow");
  assert.equal(clocks.length, 4, "nothing is left for another attempt");
});

test("many slow answers at once hold the event loop no longer than a few (check-budget.1)", () => {
  const forever = String.raw`^(?=.*[0-9])(a+)+[0-9]$`;
  const schema = { type: "string", pattern: forever };
  const budget = createCheckBudget();
  const before = process.threadCpuUsage();
  const outcomes = Array.from({ length: 50 }, () => {
    try {
      return checkAnswer(schema, `${"a".repeat(40)}7!`, budget)?.[0]?.message;
    } catch (error) {
      return (error as ApiError).code;
    }
  });
  const { user } = process.threadCpuUsage(before);
  assert.match(outcomes[0] ?? "", /stopped after 100 ms/);
  assert.equal(outcomes.at(-1), "answer_check_busy");
  assert.ok(user / 1000 < 1000, `${user / 1000} ms of CPU time`);
});

test("little time left is enough for an ordinary check, and comes back (check-budget.1, check-budget.2)", () => {
  let [now, cpuMs] = [0, 0];
  const budget = createCheckBudget(
    () => now,
    () => cpuMs,
  );
  const takes = (ms: number) => () => {
    cpuMs += ms;
    return "checked";
  };
  const stopped = (): never => {
    cpuMs += 100;
    throw Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
  };
  assert.deepEqual([budget.run(stopped), budget.run(stopped)], ["too_slow", "too_slow"]);
  assert.deepEqual(budget.run(takes(1)), { result: "checked" });
  assert.equal(budget.run(stopped), "busy", "it got less than others");
  assert.equal(budget.run(takes(1)), "busy", "nothing is left");
  now += 1000;
  assert.deepEqual(budget.run(takes(1)), { result: "checked" });
});

/** Says how long the slowest call took. */
function probe(t: { readonly diagnostic: (text: string) => void; readonly after: (done: () => void) => void }) {
  let slowestMs = 0;
  t.after(() => t.diagnostic(`slowest check: ${Math.round(slowestMs)} ms`));
  return <T>(work: () => T): T => {
    const at = performance.now();
    const result = work();
    slowestMs = Math.max(slowestMs, performance.now() - at);
    return result;
  };
}
