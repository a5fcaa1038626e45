// Tests of the intent of a run-creating call. Checked: every input × every command (resume rules 3 and 4).
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { atBreakpoint, gotoTargets, readIntent, isAnswerMap, type Intent } from "./run-intent.ts";

const LEFT_OUT = undefined;
const EMPTY: readonly (Json | undefined)[] = [LEFT_OUT, null, {}];
const SAYING: readonly Json[] = [{ a: null }, [], [{}], "", "text", 0, false, { resume: 1 }];

const NO_COMMANDS: readonly (JsonObject | null)[] = [
  null,
  {},
  { update: null, goto: null },
  { update: {}, goto: [] },
  { update: [], goto: "" },
  { lg_name: "Command", graph: "__parent__", extra: 1 },
];

const COMMANDS: readonly { readonly command: JsonObject; readonly intent: Intent }[] = [
  { command: { resume: "yes" }, intent: { kind: "resume", resume: "yes" } },
  { command: { resume: null }, intent: { kind: "resume", resume: null } },
  { command: { resume: false }, intent: { kind: "resume", resume: false } },
  { command: { resume: 0 }, intent: { kind: "resume", resume: 0 } },
  { command: { resume: "" }, intent: { kind: "resume", resume: "" } },
  { command: { resume: [] }, intent: { kind: "resume", resume: [] } },
  { command: { resume: {} }, intent: { kind: "resume", resume: {} } },
  { command: { resume: 1, update: null, goto: [] }, intent: { kind: "resume", resume: 1 } },
  {
    command: { resume: 1, update: { a: 1 }, goto: "b", lg_name: "Command" },
    intent: { kind: "resume", resume: 1, update: { a: 1 }, goto: "b" },
  },
  { command: { resume: 1, fork: true }, intent: { kind: "resume", resume: 1, fork: true } },
  { command: { resume: 1, fork: false }, intent: { kind: "resume", resume: 1 } },
  { command: { resume: 1, fork: "true" }, intent: { kind: "resume", resume: 1 } },
  { command: { update: { a: 1 }, fork: true }, intent: { kind: "command", update: { a: 1 } } },
  { command: { update: { a: 1 } }, intent: { kind: "command", update: { a: 1 } } },
  { command: { update: [["a", 1]] }, intent: { kind: "command", update: [["a", 1]] } },
  { command: { update: false }, intent: { kind: "command", update: false } },
  { command: { goto: "b" }, intent: { kind: "command", goto: "b" } },
  { command: { goto: ["b"], update: {} }, intent: { kind: "command", goto: ["b"] } },
  { command: { goto: { node: "b", input: 1 } }, intent: { kind: "command", goto: { node: "b", input: 1 } } },
];

const show = (value: unknown): string => JSON.stringify(value) ?? "left out";

for (const command of NO_COMMANDS) {
  for (const input of [...EMPTY, ...SAYING]) {
    test(`input ${show(input)} and command ${show(command)}, which is empty`, () => {
      const continues = input === undefined || input === null;
      assert.deepEqual(readIntent(input, command), continues ? { kind: "continue" } : { kind: "input", input });
    });
  }
}

for (const { command, intent } of COMMANDS) {
  test(`with command ${show(command)} no input counts`, () => {
    for (const input of [...EMPTY, ...SAYING]) assert.deepEqual(readIntent(input, command), intent);
  });
}

test("a goto to the end alone ends the pending tasks", () => {
  for (const goto of ["__end__", ["__end__"], ["__end__", "__end__"]]) {
    assert.deepEqual(readIntent({}, { goto }), { kind: "end_thread", goto });
    assert.deepEqual(readIntent(null, { goto, update: { a: 1 } }), { kind: "end_thread", update: { a: 1 }, goto });
    assert.deepEqual(readIntent(null, { goto, resume: 1 }), { kind: "resume", resume: 1, goto });
  }
  for (const goto of [["__end__", "a"], { node: "__end__" }, "end"]) {
    assert.deepEqual(readIntent(null, { goto }), { kind: "command", goto });
  }
});

test("at a breakpoint a bare value is the word to go on; ids still name questions", () => {
  for (const resume of [null, true, "x", {}, []]) {
    assert.deepEqual(atBreakpoint({ kind: "resume", resume }), { kind: "continue" });
    assert.deepEqual(atBreakpoint({ kind: "resume", resume, goto: "a" }), { kind: "command", goto: "a" });
  }
  const byId: Intent = { kind: "resume", resume: { ["a".repeat(32)]: 1 } };
  assert.equal(atBreakpoint(byId), byId);
  for (const other of [{ kind: "continue" }, { kind: "input", input: 1 }] as const) {
    assert.equal(atBreakpoint(other), other);
  }
});

const ID = "0123456789abcdef0123456789abcdef";
const MAPS: readonly Json[] = [{ [ID]: null }, { [ID]: 1, ["f".repeat(32)]: { x: 1 } }];
const NO_MAPS: readonly Json[] = [
  null,
  [],
  {},
  ID,
  [ID],
  { [ID]: 1, x: 2 },
  { [ID.slice(1)]: 1 },
  { [`${ID}0`]: 1 },
  { [ID.toUpperCase()]: 1 },
  { [`${ID}\n`]: 1 },
  { [ID.replace("0", "g")]: 1 },
];

test("an object of nothing but ids is a map of answers, anything else is an answer (rule 3)", () => {
  for (const value of MAPS) assert.equal(isAnswerMap(value), true, show(value));
  for (const value of NO_MAPS) assert.equal(isAnswerMap(value), false, show(value));
});

test("a goto aims at names and at sent nodes; other shapes are refused", () => {
  assert.deepEqual(gotoTargets(undefined), []);
  assert.deepEqual(gotoTargets("a"), ["a"]);
  assert.deepEqual(gotoTargets(["a", { node: "b", input: { node: "c" } }]), ["a", "b"]);
  assert.deepEqual(gotoTargets({ node: "a" }), ["a"]);
  assert.deepEqual(gotoTargets({ lg_name: "Send", node: "a", args: {} }), ["a"]);
  const odd: readonly Json[] = [1, true, {}, [1], [null], [["a"]], { node: 2 }, { node: ["a"] }, [{ node: { a: 1 } }]];
  for (const goto of odd) {
    assert.throws(
      () => gotoTargets(goto),
      (error) => error instanceof ApiError && error.code === "invalid_request",
    );
  }
});
