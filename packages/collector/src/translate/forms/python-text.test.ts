// Python text: what Python prints is read as the JSON of the same value, and prose never is.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Json } from "@holdpoint/base/json/json.ts";
import { readContent } from "../messages/content.ts";
import { listMessages } from "./messages.ts";
import { readPython } from "./python-text.ts";

/** Python's `repr`. */
function print(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(print).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([name, one]) => `${print(name)}: ${print(one)}`)
      .join(", ")}}`;
  if (typeof value !== "string") return JSON.stringify(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t");
  const whole = quote === "'" ? escaped.replaceAll("'", "\\'") : escaped;
  const hex = (char: string): string => char.charCodeAt(0).toString(16);
  return quote + whole.replace(/[\0-\x1f\x7f-\xa0]/g, (char) => `\\x${hex(char).padStart(2, "0")}`) + quote;
}

const text = fc.string({ unit: "binary" }).filter((one) => one.isWellFormed());
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, 0, -1, 2.5, 1e-7),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
}));

test("what Python prints of a dict is the same value in JSON", () => {
  const dict = fc.tuple(text, anyValue, anyValue).map(([name, one, two]): Json => ({ [`k${name}`]: one, two }));
  fc.assert(
    fc.property(dict, (value) => {
      const printed = print(value);
      if (!printed.startsWith("{'")) return; // a name with an apostrophe
      assert.deepEqual(readPython(printed), JSON.parse(JSON.stringify(value)));
      assert.deepEqual(readPython(`[${printed}]`), [JSON.parse(JSON.stringify(value))]);
    }),
    { numRuns: 40 },
  );
});

test("prose stays the text that it is, whatever brackets and quotes it has", () => {
  const piece = fc.constantFrom(
    "it's",
    "[{'",
    "{'type': ",
    "'text'",
    ", ",
    "}]",
    "}",
    "'",
    '"',
    "\\",
    "role",
    "\n",
    "-1",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.lorem({ maxCount: 1 })), { maxLength: 12 }), (pieces) => {
      const prose = `[{'Tis the season, they say ${pieces.join(" ")}`;
      assert.equal(readPython(prose), null);
      const message = { role: "user", content: prose };
      assert.deepEqual(listMessages([message]), [message]);
    }),
    { numRuns: 40 },
  );
});

for (const [what, given] of [
  ["an object without a literal", "[{'type': 'text', 'text': <Image at 0x7f>}]"],
  ["a tuple", "{'a': ('b', 'c')}"],
  ["a number that JSON has not", "{'a': nan}"],
  ["an escape that Python does not print", String.raw`{'a': '\q'}`],
  ["a code that is no character", String.raw`{'a': '\U00ffffff'}`],
  ["a text that a limit cut off", "[{'type': 'text', 'text': 'It"],
  ["more than a value", "{'a': 1} and so on"],
  ["a megabyte", `[{'a': '${"x".repeat(1_000_000)}'}]`],
  ["many quotes", `[{'${"'\\".repeat(100_000)}`],
  ["brackets without end", `[{'a': ${"[".repeat(100_000)}`],
] as const)
  test(`stays text: ${what}`, () => assert.equal(readPython(given), null));

test("a dict that is no message stays text", () => {
  const printed = "{'city': 'Rome'}";
  assert.deepEqual(readContent({ value: printed, source: null }, "input", "chain")?.value, { input: printed });
});
