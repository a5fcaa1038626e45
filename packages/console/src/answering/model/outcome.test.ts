// Tests of the outcome of an item that is no longer pending.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatOutcome } from "./outcome.ts";

const entry = (action: string, by: string, interrupt_id: string | null = "i") =>
  ({ action, by, via: "api", at: "12:00", interrupt_id }) as const;

for (const [entries, outcome] of [
  [
    [entry("claimed", "ada"), entry("expired", "deadline")],
    "The deadline passed at 12:00 without an answer, and the run failed.",
  ],
  [[entry("abandoned", "bob")], "Abandoned at 12:00: bob continued the thread without an answer."],
  [[entry("cancelled", "bob")], "Cancelled by bob at 12:00, with its run."],
  [[entry("answered", "deadline"), entry("released", "ada")], "Answered by deadline at 12:00."],
  [[entry("expired", "deadline", "another"), entry("claimed", "ada")], null],
  [[], null],
] as const) {
  test(`${entries.map(({ action }) => action).join(", ") || "nothing"}: ${outcome ?? "no outcome"}`, () => {
    assert.equal(formatOutcome("i", entries, String), outcome);
  });
}
