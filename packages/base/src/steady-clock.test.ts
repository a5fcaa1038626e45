import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { createFakeClock } from "../../../test/fakes/clock.ts";
import { startCollector } from "../../../test/fakes/collector.ts";
import { createMemoryDisk } from "../../../test/fakes/files.ts";
import { protobufRequest, buildSpan } from "../../../test/fakes/otlp.ts";
import type { Backend } from "@holdpoint/collector/upload/backend/port.ts";
import { steady } from "./clock.ts";

const DAY_MS = 86_400_000;

/** A clock with an adjustable wall time, as by an operator or a time server. */
function settable() {
  const clock = createFakeClock();
  let offMs = 0;
  return { ...clock, now: () => clock.now() + offMs, set: (ms: number) => void (offMs = ms) };
}

test("a steady clock starts with the wall clock and follows the monotonic clock", async () => {
  const clock = settable();
  const ages = steady(clock);
  const start = clock.now();
  clock.set(DAY_MS);
  await clock.advance(1000);
  assert.equal(ages.now(), start + 1000);
});

for (const mode of ["memory", "durable"] as const)
  describe(`the wall clock changes while runs wait (${mode} mode)`, () => {
    for (const jumpMs of [-DAY_MS, DAY_MS])
      test(`a day ${jumpMs < 0 ? "back" : "forward"}: no early drop, no late upload`, async () => {
        const clock = settable();
        const dir = await mkdtemp(`${tmpdir()}/holdpoint-clock-`);
        const { files } = createMemoryDisk(); // a real disk takes real time, unknown to this clock
        let well = false;
        const sent: number[] = [];
        const backend: Backend = {
          send: async ({ offsets }) => {
            if (!well) return { kind: "retry", reason: "503", afterMs: null };
            sent.push(...offsets);
            return { kind: "sent" };
          },
          limits: () => ({ runsMax: 100, bytesMax: 1e6, encoding: "zstd" }),
          close: () => undefined,
        };
        const env = {
          FLUSH_INTERVAL_MS: "1000",
          retryCooldownMs: "5000",
          spoolAgeMaxMs: "3600000",
          DEAD_LETTER_DIR: `${dir}/dead`,
          ...(mode === "durable" ? { SPOOL_DIR: dir } : {}),
        };
        const collector = await startCollector("http://127.0.0.1:1", env, { clock, backend, files });
        const { accounting } = collector.collector;
        // One run waits for its batch, one for a retry, one for its parent.
        assert.equal((await collector.send(protobufRequest([buildSpan(1, 0)]))).status, 200);
        while (!collector.log.some((line) => line.includes("uploads_paused"))) await clock.advance(100);
        assert.equal((await collector.send(protobufRequest([buildSpan(2, 0), buildSpan(3, 1, 0)]))).status, 200);
        clock.set(jumpMs);
        well = true;
        const from = clock.monotonic();
        while (sent.length < 3 && clock.monotonic() - from < 60_000) await clock.advance(100);
        // the longest wait so far, and a flush
        assert.ok(clock.monotonic() - from <= 7000, `${clock.monotonic() - from} ms`);
        assert.deepEqual([accounting.deadLettered.too_old, accounting.lost.too_old], [0, 0]);
        const stopping = collector.stop();
        await clock.advance(30_000);
        await stopping;
        assert.equal(accounting.delivered, 4); // with the root in place of the parent that never came
        await rm(dir, { recursive: true });
      });
  });
