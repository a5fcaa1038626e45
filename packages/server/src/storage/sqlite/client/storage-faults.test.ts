// Tests of the error of a database that does not open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openingFailure } from "./storage-faults.ts";

const FOLDER = "/srv/data";
const fault = (errcode: number, message: string) => Object.assign(new Error(message), { errcode });
const formatMessage = (error: unknown, free: number): string =>
  (openingFailure(error, FOLDER, () => free) as Error).message;

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

test("leaves other errors as they are", () => {
  for (const error of [new Error("a defect"), fault(1, "no such table"), "text"])
    assert.equal(
      openingFailure(error, FOLDER, () => assert.fail("not read")),
      error,
    );
});
