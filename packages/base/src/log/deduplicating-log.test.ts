import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import type { Log, LogFields } from "./log.ts";
import { createDeduplicatingLog } from "./deduplicating-log.ts";

function setUp() {
  const clock = createFakeClock();
  const lines: (readonly [string, LogFields])[] = [];
  const write = (event: string, fields: LogFields = {}): void => void lines.push([event, fields]);
  const log: Log = { debug: write, info: write, warning: write, error: write };
  return { clock, lines, quiet: createDeduplicatingLog(log, clock) };
}

describe("a repeated line", () => {
  test("deduplicating-log.1 the first line appears at once, and deduplicating-log.2 the count after ten seconds", async () => {
    const { clock, lines, quiet } = setUp();
    for (let at = 0; at < 1000; at++) quiet.warning("uploads_paused", { reason: `503 ${at}` });
    assert.deepEqual(lines, [["uploads_paused", { reason: "503 0" }]]);
    await clock.advance(10_000);
    assert.deepEqual(lines.slice(1), [["uploads_paused", { reason: "503 999", repeated: 999 }]]);
    quiet.warning("uploads_paused", { reason: "again" });
    assert.equal(lines.length, 2); // the line with the count starts the next ten seconds
    await clock.advance(10_000);
    assert.deepEqual(lines.slice(2), [["uploads_paused", { reason: "again", repeated: 1 }]]);
  });

  test("deduplicating-log.1 after a quiet time a line appears at once again", async () => {
    const { clock, lines, quiet } = setUp();
    quiet.info("spool_recovered");
    await clock.advance(10_000);
    quiet.info("spool_recovered");
    assert.deepEqual(lines, [
      ["spool_recovered", {}],
      ["spool_recovered", {}],
    ]);
    assert.equal(clock.timers(), 0); // nothing is suppressed, so nothing waits
  });

  test("deduplicating-log.1 event and tenant or destination distinguish lines", () => {
    const { lines, quiet } = setUp();
    for (const tenant of ["a", "b", "a"]) quiet.warning("uploads_paused", { tenant });
    quiet.error("runs_lost", { tenant: "a" });
    assert.deepEqual(lines, [
      ["uploads_paused", { tenant: "a" }],
      ["uploads_paused", { tenant: "b" }],
      ["runs_lost", { tenant: "a" }],
    ]);
    for (const destination of ["a", "b"]) quiet.warning("forward_paused", { destination });
    assert.deepEqual(lines.at(-1), ["forward_paused", { destination: "b" }]);
  });

  test("deduplicating-log.2 the end prints the count too, and only once", async () => {
    const { clock, lines, quiet } = setUp();
    for (let at = 0; at < 3; at++) quiet.error("span_lost");
    quiet.flush();
    assert.deepEqual(lines.at(-1), ["span_lost", { repeated: 2 }]);
    await clock.advance(60_000);
    assert.equal(lines.length, 2);
  });

  test("deduplicating-log.3 beyond a thousand kinds only the event counts, and every line is still counted", async () => {
    const { clock, lines, quiet } = setUp();
    for (let at = 0; at < 5000; at++) quiet.warning("uploads_paused", { tenant: String(at) });
    assert.equal(lines.length, 1001);
    await clock.advance(10_000);
    const counted = lines.reduce((sum, [, fields]) => sum + Number(fields["repeated"] ?? 1), 0);
    assert.equal(counted, 5000);
  });
});
