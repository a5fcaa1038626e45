// Test of filters against the official client's own matcher, with random filters and events.
import { matchesSubscription } from "@langchain/langgraph-sdk/client";
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProtocolMethod } from "../model/protocol-lines.ts";
import { nameChannel } from "./convert/channel.ts";
import { toEventFilter, matches } from "./event-filter.ts";

const segment = fc.constantFrom("a", "a:1", "a:2", "b", "b:1", "1");
const namespace = fc.array(segment, { maxLength: 3 });
const CHANNELS = ["values", "messages", "lifecycle", "input", "checkpoints", "custom", "custom:x", "other"];
const METHODS: readonly ProtocolMethod[] = [
  "values",
  "messages",
  "lifecycle",
  "input.requested",
  "input.answered",
  "custom",
];

test("a filter passes what the client's own matcher passes", () => {
  const filters = fc.record({
    channels: fc.subarray(CHANNELS, { minLength: 1 }),
    namespaces: fc.option(fc.array(namespace, { maxLength: 3 }), { nil: undefined }),
    depth: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
  });
  const events = fc.record({
    method: fc.constantFrom(...METHODS),
    namespace,
    data: fc.constantFrom({}, { name: "x", payload: 1 }, { name: "y" }),
  });
  let passed = 0;
  fc.assert(
    fc.property(filters, events, (filter, { method, namespace: path, data }) => {
      const event = { type: "event", method, params: { namespace: path, timestamp: 0, data } };
      const expected = matchesSubscription(event as never, filter as never);
      const channel = nameChannel(method, data);
      assert.equal(matches(toEventFilter(filter), { channel, namespace: path }), expected);
      if (expected) passed++;
    }),
    { numRuns: 2000 },
  );
  assert.ok(passed > 100, `${passed} passed`);
});
