// Test of the recent log: the newest warnings and errors, up to the limit.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Log } from "./log.ts";
import { createRecentLog } from "./recent-log.ts";

test("the recent log keeps the newest warnings and errors and passes everything on", () => {
  const lines: string[] = [];
  const note = (event: string): void => void lines.push(event);
  const log: Log = { debug: note, info: note, warning: note, error: note };
  const recent = createRecentLog(log, 2, () => 0);
  recent.info("started");
  recent.warning("first");
  recent.error("second", { reason: "503" });
  recent.warning("third");
  assert.deepEqual(lines, ["started", "first", "second", "third"]);
  assert.deepEqual(recent.recent(), [
    { at: "1970-01-01T00:00:00.000Z", level: "warning", event: "third", fields: {} },
    { at: "1970-01-01T00:00:00.000Z", level: "error", event: "second", fields: { reason: "503" } },
  ]);
});
