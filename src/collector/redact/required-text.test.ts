// Required text against RE2: where the pattern matches, neither the gate nor the pass over the bytes may hide the match.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RE2JS } from "re2js";
import { jsonRequest, protobufRequest, spanOf } from "../../../test/fakes/otlp.ts";
import type { WireFormat } from "../otlp/status.ts";
import { candidateFinder } from "./find/candidates.ts";
import { RedactSchema } from "./redact-schema.ts";
import { compileRule, type RedactionRule } from "./redaction-rule.ts";

function ruleOf(pattern: string): RedactionRule {
  const [definition = assert.fail()] = RedactSchema.parse([{ name: "r", match: pattern }]);
  return compileRule(definition, 0, null);
}

function isCandidate(rule: RedactionRule, body: Buffer, format: WireFormat): boolean {
  const steps = candidateFinder(rule.requirements).find(body, format);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return !step.value.none;
  }
}

function check(pattern: string, text: string): void {
  const rule = ruleOf(pattern);
  const what = `${pattern} in ${JSON.stringify(text)}`;
  assert.ok((rule.find?.(text) ?? []).length > 0, what);
  const span = spanOf(1, 0, undefined, { attributes: { given: text } });
  const json = jsonRequest([span], "spec");
  assert.ok(isCandidate(rule, protobufRequest([span]), "protobuf"), what);
  assert.ok(isCandidate(rule, Buffer.from(json), "json"), what);
  assert.ok(isCandidate(rule, Buffer.from(json.replaceAll("/", String.raw`\/`)), "json"), `${what}, with escapes`);
}

const KNOWN: readonly (readonly [pattern: string, text: string])[] = [
  ["EMP-[[:digit:]]{6}", "EMP-123456"],
  ["[[:upper:]]{3}-[0-9]{6}", "EMP-123456"],
  ["[[:^alpha:]x]{4}abcdef", "12x4abcdef"],
  ["(?:[[:xdigit:])]{8})-xyz", "deadbee)-xyz"],
  [String.raw`[\]x]{3}abc`, "]x]abc"],
  [String.raw`[^\]x]{3}abc`, "defabc"],
  ["[]a]bcdefg", "]bcdefg"],
  ["[^]a]bcdefg", "xbcdefg"],
  ["[:digit:]bcdefg", ":bcdefg"],
  [String.raw`\QEMP-[\E[0-9]{6}`, "EMP-[123456"],
  [String.raw`(\Q(\E|x)EMPLOYEE`, "(EMPLOYEE"],
  ["[+-9]{3}xyz", "///xyz"],
  ["[ -0]{3}xyz", '"""xyz'],
];

/** Each with a text that it matches. */
const ATOMS: readonly (readonly [source: string, text: string])[] = [
  ...KNOWN.slice(0, 3),
  ["E", "E"],
  ["M-", "M-"],
  ["[[:digit:]]", "7"],
  ["[[:digit:][:space:]_]", "_"],
  ["[[:^digit:]]", "x"],
  ["[^[:space:]]", "@"],
  ["[^[:^alpha:]]", "k"],
  ["[[:punct:]]", "/"],
  [String.raw`[\]\[]`, "["],
  [String.raw`[\\\]x]`, "\\"],
  ["[]]", "]"],
  ["[^]]", "["],
  ["[]-a]", "^"],
  ["[[a]", "["],
  ["[[:alpha:]", ""], // not a class: RE2 refuses it
  ["(a|[[:digit:])])", ")"],
  ["(?:[]|)]|b)", "|"],
  [String.raw`\]`, "]"],
  ["]", "]"],
  [String.raw`\d`, "4"],
  [String.raw`\/`, "/"],
  [String.raw`[\w.-]`, "."],
  [String.raw`[[:word:]\-]`, "-"],
];
const QUANTIFIERS: readonly (readonly [source: string, times: number])[] = [
  ...(["", "", ""] as const).map((none) => [none, 1] as const),
  ["?", 0],
  ["*", 2],
  ["+", 3],
  ["{3}", 3],
  ["{2,}", 3],
  ["{1,2}", 2],
];

describe("required text", () => {
  for (const [pattern, text] of KNOWN)
    test(`does not hide a match of ${pattern}`, () => check(pattern, `zz ${text} zz`));

  test("does not hide a match of patterns put together at random", () => {
    let state = 1;
    const pick = <T>(list: readonly T[]): T => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return list[Math.floor((state / 2 ** 32) * list.length)] ?? assert.fail();
    };
    let checked = 0;
    for (let round = 0; round < 150; round++) {
      let [pattern, text] = ["", ""];
      for (let left = pick([1, 2, 3, 4, 5]); left > 0; left--) {
        const [atom, sample] = pick(ATOMS);
        const [quantifier, times] = pick(QUANTIFIERS);
        // A quantifier belongs to the last character of a longer expression.
        const repeated = atom.length === 1 || /^(?:\[[^{}]*\]|\(.*\)|\\.)$/.test(atom) ? quantifier : "";
        pattern += atom + repeated;
        text += sample.repeat(repeated === "" ? 1 : times);
      }
      if (pick([0, 1, 2]) === 0) pattern += `|${pick(ATOMS)[0]}`;
      if (!matches(pattern, text)) continue;
      checked++;
      check(pattern, text);
    }
    assert.ok(checked > 60, String(checked));
  });
});

/** False also for a pattern that RE2 refuses. */
function matches(pattern: string, text: string): boolean {
  try {
    const matcher = RE2JS.compile(pattern).matcher(text);
    while (matcher.find()) if (matcher.end() > matcher.start()) return true;
    return false;
  } catch {
    return false;
  }
}
