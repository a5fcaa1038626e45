// Test of what a reader is told about events that are gone.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentContext } from "../context/context.ts";
import type { Tx } from "../ports/ports.ts";
import { toEventFilter } from "./event-filter.ts";
import { missedSince } from "./replay-rules.ts";

test("a thread out of scope says no more than one that is not there", async () => {
  for (const thread of [{ metadata: { owner: "bob" } }, null]) {
    // Reads of the thread's runs and events would fail.
    const tx = { thread: () => Promise.resolve(thread) } as unknown as Tx;
    const agent = { storage: { read: <T>(act: (one: Tx) => Promise<T>) => act(tx) } } as unknown as AgentContext;
    const filter = toEventFilter({ channels: ["values"], since: 5 });
    assert.equal(await missedSince(agent, "thread", filter, [{ key: "owner", op: "eq", value: "ann" }]), 0);
  }
});
