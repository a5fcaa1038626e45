// Tests of the error of a database that does not open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openingFailure } from "./storage-faults.ts";

const FOLDER = "/srv/data";
const fault = (errcode: number, message: string) => Object.assign(new Error(message), { errcode });
const formatMessage = (error: unknown, free: number): string =>
  (openingFailure(error, FOLDER, () => ({ freeBytes: free, owner: 0, self: 1000 })) as Error).message;

test("names the folder and the space on its disk", () => {
  const error = fault(10, "disk I/O error");
  assert.equal(
    formatMessage(error, 4096),
    "the database in /srv/data cannot be opened: disk I/O error; its disk is full: free some space",
  );
  assert.match(formatMessage(error, 5 * 1024 * 1024), /disk I\/O error; its disk has 5 MiB free$/);
  const noSpace = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  assert.match(formatMessage(noSpace, 0), /\/srv\/data .*free some space$/);
});

for (const [name, error, says] of [
  ["a damaged database", fault(11, "database disk image is malformed"), /\/srv\/data .*malformed.*restore a backup/],
  ["a file that is none", fault(26, "file is not a database"), /\/srv\/data .*not a database.*restore a backup/],
  ["a file of another user", fault(14, "unable to open database file"), /user 0, .*user 1000: .*chown -R/],
  ["a folder of another user", Object.assign(new Error("EACCES"), { code: "EACCES" }), /user 0.*HOLDPOINT_DATA_DIR/],
] as const)
  test(`names the path and the remedy of ${name}`, () => {
    assert.match(formatMessage(error, 4096), says);
    const failure = openingFailure(error, FOLDER, () => ({ freeBytes: 1, owner: 0, self: 1000 }));
    assert.equal((failure as Error).name, "DataFolderError", "a restart does not help");
  });

test("leaves other errors as they are", () => {
  for (const error of [new Error("a defect"), fault(1, "no such table"), "text"])
    assert.equal(
      openingFailure(error, FOLDER, () => assert.fail("not read")),
      error,
    );
});
