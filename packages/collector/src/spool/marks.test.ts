import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryDisk } from "../../../../test/fakes/files.ts";
import type { FilePort } from "./disk/file-port.ts";
import { createMarks } from "./marks.ts";

test("marks.3 forgetting a segment during the write of its first mark leaves no open file", async () => {
  const disk = createMemoryDisk();
  const gate = Promise.withResolvers<void>();
  const open = new Set<string>();
  const files: FilePort = {
    ...disk.files,
    async openToAppend(path) {
      await gate.promise;
      open.add(path);
      return { ...(await disk.files.openToAppend(path)), close: async () => void open.delete(path) };
    },
  };
  const marks = createMarks("/spool", files);
  marks.add(1, { offset: 0, ranges: [0, 1], batch: null });
  await Promise.resolve(); // it is at the gate now
  const forgotten = marks.forget(1);
  gate.resolve();
  await forgotten;
  assert.deepEqual([...disk.contents.keys()], ["/spool/0000000001.marks"], "it was opened");
  assert.deepEqual(open, new Set());
});
