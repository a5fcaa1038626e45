import assert from "node:assert/strict";
import { test } from "node:test";
import { shortId, shortIds } from "./short-id.ts";

test("short ids are unique in their list", () => {
  const uuid = (beginning: string): string => `${beginning}-7000-8000-000000000000`;
  const uuids = [uuid("aaaaaaaa-1111"), uuid("aaaaaaaa-1222")];
  assert.deepEqual(uuids.map(shortIds(uuids)), ["aaaaaaaa-1111", "aaaaaaaa-1222"]);
  assert.deepEqual(uuids.map(shortId), ["aaaaaaaa-1111", "aaaaaaaa-1222"]);
  const hashes = [`0123456789${"a".repeat(22)}`, `0123456789${"b".repeat(22)}`];
  assert.deepEqual(hashes.map(shortIds(hashes)), ["0123456789a", "0123456789b"]);
  assert.deepEqual(["nightly", ...hashes].map(shortId), ["nightly", "01234567", "01234567"]);
});
