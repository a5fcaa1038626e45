import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndedBy } from "../model/model.ts";
import { runRecord } from "../model/testkit.ts";
import { startersAfter } from "./starters.ts";

const CASES: readonly [string, EndedBy, input: object | null, author: string | undefined, readonly string[]][] = [
  ["new input adds to the list", "done", {}, "bob", ["ann", "bob"]],
  ["new input that pauses adds to the list", "pause", {}, "bob", ["ann", "bob"]],
  ["an edit adds to the list", "pause", null, "bob", ["ann", "bob"]],
  ["an answer leaves the list", "pause", null, undefined, ["ann"]],
  ["input that was rolled back leaves the list of the older state", "rollback", {}, "bob", ["ann"]],
  ["input of a run that broke off adds to the list", "failure", {}, "bob", ["ann", "bob"]],
];

for (const [name, endedBy, input, author, expected] of CASES) {
  test(`${name} (starters.1, starters.2)`, () => {
    const run = runRecord({ runId: "r", threadId: "t", input: input as never });
    const request = { ...run.request, ...(author === undefined ? {} : { startedBy: author }) };
    assert.deepEqual(startersAfter({ startedBy: ["ann"] }, { ...run, request }, endedBy), expected);
  });
}

test("everybody who changed a cron is an author of its runs (starters.3)", () => {
  const run = runRecord({ runId: "r", threadId: "t", input: {} as never });
  const request = { ...run.request, startedBy: "bob", alsoStartedBy: ["carl", "ann"] };
  assert.deepEqual(startersAfter({ startedBy: ["ann"] }, { ...run, request }, "pause"), ["ann", "bob", "carl"]);
  const edit = { ...run, input: null, request };
  assert.deepEqual(startersAfter({ startedBy: ["ann"] }, edit, "pause"), ["ann", "bob", "carl"]);
});

test("a list of a thousand authors excludes everybody from then on, and loses nobody (starters.1)", () => {
  const run = runRecord({ runId: "r", threadId: "t", input: {} as never });
  let startedBy: readonly string[] = [];
  for (let at = 0; at < 1002; at++) {
    const request = { ...run.request, startedBy: `p${at}` };
    startedBy = startersAfter({ startedBy }, { ...run, request }, "done");
  }
  assert.deepEqual([startedBy.length, startedBy[0], startedBy.at(-1)], [1001, "p0", "*"]);
});
