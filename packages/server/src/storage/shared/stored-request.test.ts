import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { plainRequest } from "../../model/testkit.ts";
import type { RunRequest } from "../../model/model.ts";
import { shortRequest, wholeRequest } from "./stored-request.ts";

const OBJECT = fc.oneof(fc.constant({}), fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }));
const REQUEST = fc.record({
  command: fc.constantFrom(null, {}, { goto: null }, { update: [] }),
  config: OBJECT,
  context: fc.jsonValue(),
  interruptBefore: fc.constantFrom(null, "*" as const, [], ["a"]),
  interruptAfter: fc.constantFrom(null, "*" as const, [], ["a"]),
  durability: fc.constantFrom("async" as const, "sync" as const, "exit" as const),
  checkpointId: fc.constantFrom(null, "", "c"),
  goesFirst: fc.boolean(),
  user: fc.oneof(fc.constant(null), OBJECT),
  permissions: fc.array(fc.string(), { maxLength: 2 }),
}) as fc.Arbitrary<RunRequest>;

test("a stored request is read as it was accepted", () => {
  fc.assert(
    fc.property(REQUEST, (request) => {
      const stored = JSON.stringify(shortRequest(request));
      assert.deepEqual(wholeRequest(JSON.parse(stored) as RunRequest), JSON.parse(JSON.stringify(request)));
    }),
    { numRuns: 2000 },
  );
});

test("a request that is stored whole is read as it is", () => {
  assert.deepEqual(wholeRequest(plainRequest), plainRequest);
});

test("a plain request takes no room", () => assert.deepEqual(shortRequest(plainRequest), {}));
