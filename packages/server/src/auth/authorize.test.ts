// Tests of the members that a handler finds and those that it may change. Checked: handler-value.1 to handler-value.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccessEvent } from "@holdpoint/api/operation.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { fromAccessValue, toAccessValue, type RequestParts } from "./handler-value.ts";

const parts = (given: Partial<RequestParts>): RequestParts => ({ ids: {}, query: {}, body: {}, ...given });

const SHOWN: readonly (readonly [event: AccessEvent, given: Partial<RequestParts>, value: JsonObject])[] = [
  ["threads:create", { body: { thread_id: "t" } }, { thread_id: "t", metadata: {} }],
  ["threads:update", { ids: { thread_id: "t" } }, { thread_id: "t", metadata: null }],
  ["threads:search", { body: { limit: 5 } }, { limit: 5, metadata: null }],
  ["threads:read", { ids: { thread_id: "t" }, query: { subgraphs: true } }, { thread_id: "t", subgraphs: true }],
  ["store:put", { body: { namespace: ["a"], key: "k" } }, { namespace: ["a"], key: "k" }],
  ["store:get", { query: { namespace: ["a"], key: "k" } }, { namespace: ["a"], key: "k" }],
  ["store:search", { body: { namespace_prefix: ["a"] } }, { namespace_prefix: ["a"], namespace: ["a"] }],
  ["store:list_namespaces", { body: {} }, { namespace: null }],
  [
    "threads:create_run",
    { ids: { thread_id: "t" }, body: { assistant_id: "a", input: { x: 1 }, multitask_strategy: "reject" } },
    {
      thread_id: "t",
      assistant_id: "a",
      status: "pending",
      metadata: {},
      prevent_insert_if_inflight: true,
      multitask_strategy: "reject",
      if_not_exists: "reject",
      after_seconds: 0,
      kwargs: { input: { x: 1 } },
    },
  ],
  [
    "threads:create_run",
    { body: { assistant_id: "a", thread_id: "t", metadata: { m: 1 }, config: {}, after_seconds: 9 } },
    {
      thread_id: "t",
      assistant_id: "a",
      status: "pending",
      metadata: { m: 1 },
      prevent_insert_if_inflight: false,
      multitask_strategy: "enqueue",
      if_not_exists: "reject",
      after_seconds: 9,
      kwargs: { config: {} },
    },
  ],
];

for (const [event, given, value] of SHOWN) {
  test(`a handler for ${event} finds ${JSON.stringify(value).slice(0, 70)} (handler-value.1)`, () => {
    assert.deepEqual(toAccessValue(event, parts(given)), value);
  });
}

const CHANGED: readonly (readonly [
  name: string,
  event: AccessEvent,
  given: Partial<RequestParts>,
  change: JsonObject,
  comes: { readonly query?: JsonObject; readonly body?: JsonObject },
])[] = [
  ["metadata that it adds", "threads:create", {}, { metadata: { o: 1 } }, { body: { metadata: { o: 1 } } }],
  [
    "a member of the query",
    "store:get",
    { query: { namespace: ["b"], key: "k" } },
    { namespace: ["a", "b"] },
    { query: { namespace: ["a", "b"], key: "k" } },
  ],
  [
    "the namespace of a search",
    "store:search",
    { body: { limit: 1 } },
    { namespace: ["a"] },
    { body: { limit: 1, namespace: ["a"], namespace_prefix: ["a"] } },
  ],
  [
    "the namespace of a list",
    "store:list_namespaces",
    {},
    { namespace: ["a"] },
    { body: { namespace: ["a"], prefix: ["a"] } },
  ],
];

for (const [name, event, given, change, comes] of CHANGED) {
  test(`a handler for ${event} may change ${name} (handler-value.3)`, () => {
    const asked = parts(given);
    const { query, body } = fromAccessValue(event, asked, { ...toAccessValue(event, asked), ...change });
    assert.deepEqual(query, comes.query ?? asked.query);
    assert.deepEqual(body, comes.body ?? asked.body);
  });
}

test("a handler may change a run's input, but not its thread and assistant (handler-value.2, handler-value.3)", () => {
  const asked = parts({ body: { assistant_id: "a", thread_id: "t", input: 1, config: { tags: [] } } });
  const value = toAccessValue("threads:create_run", asked);
  const kwargs = { ...(value["kwargs"] as JsonObject), config: { tags: ["x"] } };
  const changed = { ...value, kwargs, metadata: { o: 1 }, assistant_id: "b", thread_id: "u" };
  const { body } = fromAccessValue("threads:create_run", asked, changed);
  const { assistant_id: assistant, thread_id: thread, input, config, metadata } = body;
  assert.deepEqual([assistant, thread, input, config, metadata], ["a", "t", 1, { tags: ["x"] }, { o: 1 }]);
  const created = parts({ body: { thread_id: "t" } });
  assert.equal(fromAccessValue("threads:create", created, { thread_id: "u", metadata: {} }).body["thread_id"], "t");
  const named = parts({ ids: { thread_id: "t" } });
  assert.deepEqual(fromAccessValue("threads:update", named, { thread_id: "u" }).body, {});
});
