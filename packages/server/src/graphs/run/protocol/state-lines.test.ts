// Tests of the checkpoints and states of subgraphs as lines.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../../../ports/ports.ts";
import { type StateLines, createStateLines } from "./protocol-events.ts";

const short = { data: { text: "short" } };
const long = { data: { text: "x".repeat(1024 * 1024) } };
const CASES: readonly (readonly [name: string, send: (lines: StateLines) => void, sent: readonly string[]])[] = [
  ["a checkpoint with its state", (lines) => [lines.checkpoint(short), lines.state(short)], ["checkpoints", "values"]],
  ["a checkpoint without a state", (lines) => [lines.checkpoint(short), lines.flush()], ["checkpoints"]],
  ["a long state", (lines) => [lines.checkpoint(short), lines.state(long), lines.flush()], []],
  ["a state without a checkpoint", (lines) => lines.state(short), ["values"]],
  [
    "a long state, then a short one",
    (lines) => [lines.checkpoint(short), lines.state(long), lines.checkpoint(short), lines.state(short)],
    ["checkpoints", "values"],
  ],
];

for (const [name, send, sent] of CASES) {
  test(`${name} (state-lines.1)`, () => {
    const events: RunEvent[] = [];
    send(createStateLines((event) => events.push(event)));
    assert.deepEqual(
      events.map((event) => event.name),
      sent.map((method) => `v3/${method}`),
    );
  });
}
