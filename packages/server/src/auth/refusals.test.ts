// Tests of refusals with a controlled clock and real storage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { openStorage } from "../../../../test/harness/storage/sqlite-storage.ts";
import { chooseActTrail } from "../model/audit-actions.ts";
import { createRefusals } from "./refusals.ts";

const log = { warning: (event: string) => assert.fail(event) } as never;

test("ten thousand refused keys in a minute are two entries, with their number and few addresses (refusals.1)", async (t) => {
  const storage = await openStorage(t);
  const clock = createFakeClock();
  const refusals = createRefusals({ storage, clock, log });
  const read = () => storage.read((tx) => tx.listAudit(chooseActTrail("key")));
  for (let at = 0; at < 10_000; at++)
    refusals.note("key", { method: "GET", url: "/", headers: {}, remoteAddress: `10.0.${at >> 8}.${at & 255}` });
  await storage.transaction(() => undefined);
  assert.equal((await read()).length, 1);
  await clock.advance(60_000);
  await refusals.stop();
  const counts = (await read()).map(({ value }) => value as { count: number; addresses: readonly string[] });
  assert.deepEqual(
    counts.map(({ count, addresses }) => [count, addresses.length]),
    [
      [1, 1],
      [9999, 10],
    ],
  );
});
