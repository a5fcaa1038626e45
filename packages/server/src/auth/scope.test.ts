// Tests of scopes. Checked: scope.1, membership in a scope; scope.2, stamped metadata is in it, whatever was there.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Condition } from "../model/model.ts";
import { inScope, stamped } from "./scope.ts";

const OWNER: Condition = { key: "owner", op: "eq", value: "ann" };
const TEAM: Condition = { key: "team", op: "contains", value: "red" };

const ZONE: Condition = { key: "zone", op: "in", value: ["a", "b"] };

const CASES: readonly {
  readonly metadata: JsonObject;
  readonly scope: readonly Condition[];
  readonly inside: boolean;
  readonly stamp: JsonObject;
}[] = [
  { metadata: { owner: "ann" }, scope: [OWNER], inside: true, stamp: { owner: "ann" } },
  { metadata: { owner: "bob", a: 1 }, scope: [OWNER], inside: false, stamp: { owner: "ann", a: 1 } },
  { metadata: {}, scope: [OWNER], inside: false, stamp: { owner: "ann" } },
  { metadata: { owner: ["ann"] }, scope: [OWNER], inside: false, stamp: { owner: "ann" } },
  { metadata: { owner: null }, scope: [OWNER], inside: false, stamp: { owner: "ann" } },
  { metadata: { team: ["red", "blue"] }, scope: [TEAM], inside: true, stamp: { team: ["red", "blue"] } },
  { metadata: { team: ["blue"] }, scope: [TEAM], inside: false, stamp: { team: ["blue", "red"] } },
  { metadata: { team: "red" }, scope: [TEAM], inside: false, stamp: { team: ["red"] } },
  { metadata: {}, scope: [TEAM, OWNER], inside: false, stamp: { team: ["red"], owner: "ann" } },
  { metadata: { owner: "ann" }, scope: [OWNER, TEAM], inside: false, stamp: { owner: "ann", team: ["red"] } },
  { metadata: { a: 1 }, scope: [], inside: true, stamp: { a: 1 } },
  { metadata: { zone: "b" }, scope: [ZONE], inside: true, stamp: { zone: "b" } },
  { metadata: { zone: "c" }, scope: [ZONE], inside: false, stamp: { zone: "a" } },
  { metadata: {}, scope: [ZONE, OWNER], inside: false, stamp: { zone: "a", owner: "ann" } },
  { metadata: { zone: ["a"] }, scope: [ZONE], inside: false, stamp: { zone: "a" } },
];

for (const { metadata, scope, inside, stamp } of CASES) {
  const named = `${JSON.stringify(metadata)} is ${inside ? "in" : "out of"} ${JSON.stringify(scope)}`;
  test(`${named}, and stamped it is in (scope.1, scope.2)`, () => {
    assert.equal(inScope(metadata, scope), inside);
    assert.deepEqual(stamped(metadata, scope), stamp);
    assert.equal(inScope(stamped(metadata, scope), scope), true);
  });
}

test("names of Object.prototype are no members, and everything is in no scope at all (scope.1)", () => {
  assert.equal(inScope({}, [{ key: "constructor", op: "eq", value: "x" }]), false);
  assert.equal(inScope({}, null), true);
  assert.deepEqual(stamped({ a: 1 }, null), { a: 1 });
});
