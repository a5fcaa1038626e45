// Tests of extract: extract.1 (null where a path leads to nothing; own members only; a path that is none is refused).
import assert from "node:assert/strict";
import { test } from "node:test";
import { extract } from "./threads.ts";

const thread = {
  values: { messages: [{ content: "first" }, { content: "last" }], count: 0 },
  metadata: { "a b": true },
};

const CASES: readonly (readonly [string, unknown])[] = [
  ["values.count", 0],
  ["values.messages[0].content", "first"],
  ["values.messages[-1].content", "last"],
  ["values.messages[*].content", "first"],
  ["metadata.a b", true],
  ["values.messages", thread.values.messages],
  ["values.messages[2].content", null],
  ["values.messages[-3]", null],
  ["values.messages.length", null],
  ["values.count.toString", null],
  ["values.__proto__", null],
  ["constructor", null],
  ["values[0]", null],
  ["nothing", null],
];

for (const [path, expected] of CASES) {
  test(`${path} leads to ${JSON.stringify(expected)} (extract.1)`, () => {
    assert.deepEqual(extract(thread, { it: path }), { it: expected });
  });
}

for (const path of ["values..count", "values[", "", "[0]", "a[x]"]) {
  test(`${JSON.stringify(path)} is refused (extract.1)`, () => {
    assert.throws(() => extract(thread, { it: path }), { code: "invalid_request" });
  });
}
