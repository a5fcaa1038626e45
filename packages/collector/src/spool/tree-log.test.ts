// Test of the tree log's segments that disappear under the collector (segment-guard.1, segment-guard.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryDisk } from "../../../../test/fakes/files.ts";
import { systemClock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createSegmentGuard } from "./segment-guard.ts";
import { createTreeLog, TREES_SUFFIX, placeLines } from "./tree-log.ts";

const DIR = "spool";

for (const replaced of [false, true]) {
  test(`a tree segment that is ${replaced ? "replaced" : "deleted"} is named until its runs are not kept any more`, async () => {
    const disk = createMemoryDisk();
    const said: string[] = [];
    const note = (event: string): void => void said.push(event);
    const log = { info: note, warning: note, error: note } as unknown as Log;
    const { files } = disk;
    await files.makeDir(DIR);
    const guard = createSegmentGuard({
      dir: DIR,
      suffix: TREES_SUFFIX,
      files,
      log,
      liveIn: (segment) => trees.runsIn(segment),
      loss: (runs) => `${runs} runs`,
    });
    const limits = { treeSegmentBytesMax: 200, treeRunsKept: 6, treeAgeMs: 60_000 };
    const trees = createTreeLog(
      { ...limits, dir: DIR, firstSegment: 0, old: [], guard },
      { files, clock: systemClock, ring: null },
    );
    let runs = 0;
    const append = async () => {
      const place = { traceId: "a".repeat(32), spanId: String(runs++).padStart(16, "0"), dottedOrder: "x".repeat(100) };
      await trees.append("tenant", placeLines([place]));
    };
    const segmentFiles = () => [...disk.contents.keys()].filter((name) => name.endsWith(TREES_SUFFIX)).toSorted();
    for (let at = 0; at < 4; at++) await append();
    await guard.check();
    assert.equal(guard.problem(), null);
    const [first = ""] = segmentFiles();
    assert.ok(segmentFiles().length > 1);
    await files.unlink(first);
    if (replaced) await (await files.create(first)).write([Buffer.from("of another program")]);
    await guard.check();
    await guard.check();
    assert.match(guard.problem() ?? "", /^0000000000\.trees was deleted or replaced under the collector: 1 runs$/);
    assert.deepEqual(
      said.filter((event) => event === "spool_segment_gone"),
      ["spool_segment_gone"],
    );
    for (let at = 0; at < 8; at++) await append();
    await trees.close();
    await guard.check();
    assert.equal(guard.problem(), null);
    assert.equal(disk.contents.has(first), replaced, "a file of another program stays");
  });
}
