// Candidates: the fast way, which reads only the places that the pass over the bytes found, against the slow way, which
// reads all of them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonRequest, protobufRequest, spanOf, type TestSpan, type TestValue } from "../../../test/fakes/otlp.ts";
import type { WireFormat } from "../otlp/status.ts";
import { candidateFinder, literalRequirement, type Candidates, EVERYWHERE } from "./find/candidates.ts";
import { REQUESTS } from "./otlp-messages.ts";
import { RedactSchema } from "./redact-schema.ts";
import { redactJson } from "./redact-json.ts";
import { redactProtobuf } from "./redact-protobuf.ts";
import { compileRule, type RedactionRule } from "./redaction-rule.ts";

const RULES = [
  { name: "mail", detect: ["email"] },
  { name: "card", detect: ["card"] },
  { name: "token", detect: ["token"], action: "hash" },
  { name: "employee", match: "EMP-[0-9]{6}" },
  { name: "ssn", match: String.raw`\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b` },
  { name: "phone", match: String.raw`\+49[ 0-9-]{6,16}` },
  { name: "either", match: "GRÜN-[0-9]{2}|(?:a|b)-ROT|^blau$" },
  { name: "case", match: "(?i)task-id[0-9]{3}" },
  { name: "nine", match: "[0-9]{9}" },
  { name: "secrets", attributes: ["secret.*", "outer/password"], action: "drop" },
];
const every = RedactSchema.parse(RULES).map((definition, index) => compileRule(definition, index, "key"));

function ended<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

interface Outcome {
  readonly body: string;
  readonly counts: readonly number[];
}

/** The rule about nine digits makes every longer number a candidate, and would hide a fault in those for cards. */
const RULE_SETS = [every, every.filter(({ name }) => name !== "nine")];

function outcome(body: Buffer, format: WireFormat, candidates: Candidates, rules: readonly RedactionRule[]): Outcome {
  const counts = rules.map(() => 0);
  const redacting = { rules, counts, report: null };
  const redact = format === "json" ? redactJson : redactProtobuf;
  const changed = candidates.none ? null : ended(redact(body, REQUESTS.traces, candidates, redacting));
  return { body: (changed ?? body).toString("latin1"), counts };
}

/** A stream of numbers below `limit`, the same for the same seed. */
function numbers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const GROUPS = ["4111", "1111", "1111", "1111"];
const PIECES: readonly string[] = [
  ...'@ . - _ / \\ " + : \n \t é ß 漢 😀 0 4 % s k ſ K'.split(" "),
  ..."alice@example.com x@ü.de %40 bob%40a.io 4111111111111111 4111-1111-1111-1111 0.4111111111111111 14111111111111111".split(
    " ",
  ),
  ..."5105105105105100 1763700000000123456 sk-canary0123456789abcdef AKIAABCDEFGHIJKLMNOP eyJhbGciOiJI.eyJzdWIi Bearer".split(
    " ",
  ),
  ..."postgres://u:pw@host EMP-123456 EMP-12 123-45-6789 +49\u0020170\u00201234567 GRÜN-12 a-ROT blau TASK-ID123 taſK-id123".split(
    " ",
  ),
  String.raw`\u0040`,
  String.raw`\u00e9`,
  "\n4111111111111111",
  "\t5105105105105100",
  String.raw`alice\u0040example.com`,
  String.raw`EMP\u002d123456`,
  String.raw`\n4111111111111111`,
  String.raw`\u20144111111111111111`,
  String.raw`\tsk-canary0123456789abcdef`,
  String.raw`db:\/\/u:pw@host`,
  "pan%3D4111111111111111",
  "pan%205105105105105100",
  "Bearer%20canary0123456789 k%3Dsk-canary0123456789abcdef",
  `gsk_${"aB3d".repeat(6)}`,
  "the",
  " ",
  " ",
  "word",
  "-----BEGIN RSA PRIVATE KEY-----",
  "123456789",
  "-".repeat(9),
  "1 2 3 4 5 6 7 8 9 1 2 3 4 5",
  "Basic QWxhZGRpbjpvcGVu",
  "basic QWxhZGRpbjpvcGVu",
  "BASIC%20YTpi",
  "bEARER canary0123456789",
  ..."\u00a0 \u00ad \u1680 \u2009 \u202f \u2060 \u2212 \u3000 \ufeff".split(" ").map((by) => GROUPS.join(by)),
  ...String.raw`\u00a0 \u202F \\u2009 \xa0 %20 %C2%A0 %e2%80%af %E3%80%80 \ufeff`
    .split(" ")
    .map((by) => GROUPS.join(by)),
  `5 1 0 5 1 0 5 1 0 5 1 0 5\u20091 0 0`,
];

function textOf(next: (limit: number) => number): string {
  let text = Array.from({ length: 1 + next(3) }, () => PIECES[next(PIECES.length)] ?? "").join(
    next(2) === 0 ? "" : " ",
  );
  for (let nested = next(3); nested > 0; nested--) text = JSON.stringify({ [next(4) === 0 ? "password" : "t"]: text });
  return text;
}

function valueOf(next: (limit: number) => number): TestValue {
  const kind = next(10);
  if (kind === 0) return [123456789n, -12345678n, 4111111111111111n, 12n, 5105105105105100n][next(5)] ?? 0n;
  if (kind === 1) return [textOf(next), { password: textOf(next), other: textOf(next) }];
  if (kind === 2) return { password: textOf(next), inner: [textOf(next)] };
  if (kind === 3) return "4111111111111111 ".padEnd(40 + next(20), "x"); // a length that looks like a digit
  return "x".repeat(next(60)) + textOf(next);
}

function spanWith(next: (limit: number) => number, index: number): TestSpan {
  const keys = ["a", "outer", "secret.x", "gen_ai.prompt", textOf(next)];
  const attributes = (): Record<string, TestValue> =>
    Object.fromEntries(Array.from({ length: next(3) }, () => [keys[next(keys.length)] ?? "", valueOf(next)]));
  return spanOf(1, index, undefined, {
    name: next(4) === 0 ? textOf(next) : "work",
    attributes: attributes(),
    events: next(3) === 0 ? [{ name: "e", time: 1n, attributes: attributes() }] : [],
    ...(next(5) === 0 ? { status: { code: 2, message: textOf(next) } } : {}),
  });
}

const FINDERS = RULE_SETS.map((rules) => candidateFinder(rules.flatMap(({ requirements }) => requirements)));

describe("redaction of places with candidates", () => {
  for (const format of ["protobuf", "json"] as const)
    test(`finds in ${format} exactly what a search of every place finds`, () => {
      const found = every.map(() => 0);
      for (let seed = 1; seed <= 800; seed++) {
        const next = numbers(seed * 7919);
        const spans = Array.from({ length: 1 + next(4) }, (_, index) => spanWith(next, index));
        const resource = next(3) === 0 ? { owner: textOf(next) } : {};
        const sent =
          format === "json"
            ? Buffer.from(jsonRequest(spans, "spec", { resource }))
            : protobufRequest(spans, { resource });
        const body = Buffer.concat([Buffer.alloc(seed % 4), sent]).subarray(seed % 4); // every alignment in memory
        for (const [set, rules] of RULE_SETS.entries()) {
          const slow = outcome(body, format, EVERYWHERE, rules);
          const candidates = ended(FINDERS[set]?.find(body, format) ?? assert.fail());
          assert.deepEqual(outcome(body, format, candidates, rules), slow, `seed ${seed}`);
          if (rules === every) slow.counts.forEach((count, index) => (found[index] = (found[index] ?? 0) + count));
        }
      }
      assert.deepEqual(found.map((count, index) => (count === 0 ? every[index]?.name : "")).filter(Boolean), []);
    });

  const WINDOW_BYTES = 1024 * 1024;

  test("a text is found at every offset, alignment in memory and length of the body, and over the edge of a window", () => {
    const finder = candidateFinder([literalRequirement("qz")]);
    const lengths = [...Array.from({ length: 13 }, (_, index) => index + 2), WINDOW_BYTES + 2, WINDOW_BYTES + 9];
    for (const length of lengths)
      for (const lead of [0, 1, 2, 3]) {
        const first = Math.max(0, Math.min(WINDOW_BYTES, length) - 16);
        const body = Buffer.alloc(lead + length, "x").subarray(lead);
        for (let at = first; at <= length - 2; at++) {
          body.write("qz", at);
          const { within } = ended(finder.find(body, "protobuf"));
          assert.ok(within(at, at + 2), `at ${at} of ${length} bytes, ${lead} behind a word`);
          body.fill("x", at, at + 2);
        }
        assert.equal(ended(finder.find(body, "protobuf")).none, true);
      }
  });

  test("a request without a finding has no candidate, in spite of times, fractions and words like the tokens", () => {
    const attributes = { a: "0.5105105105105100 task-based risk-aware, see https://example.com/@x", b: 17n };
    const span = spanOf(1, 0, undefined, { attributes });
    const body = Buffer.from(jsonRequest([span], "spec"));
    assert.equal(ended(FINDERS[1]?.find(body, "json") ?? assert.fail()).none, true);
  });
});
