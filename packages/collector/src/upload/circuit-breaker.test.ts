import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";

test("a circuit opens twice as long each time, and starts anew after it closed", async () => {
  const clock = createFakeClock();
  const changes: (readonly [string | null, number])[] = [];
  let probes = 0;
  const circuit = createCircuitBreaker(100, {
    clock,
    onChange: (reason, pauseMs) => void changes.push([reason, pauseMs]),
    onProbe: () => void probes++,
  });
  circuit.open("503", null);
  circuit.open("503", null); // a second cycle of the same pause
  assert.deepEqual([circuit.isOpen(), circuit.isFailing()], [true, true]);
  await clock.advance(100);
  assert.deepEqual([circuit.isOpen(), circuit.isFailing(), probes], [false, true, 1]);
  circuit.open("503", null);
  circuit.endPause();
  assert.deepEqual([circuit.isOpen(), probes], [false, 1]);
  circuit.close();
  circuit.open("429", 7);
  assert.deepEqual(changes, [
    ["503", 100],
    ["503", 200],
    [null, 0],
    ["429", 7],
  ]);
});
