// Test of readers that attach while the process stops.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentContext } from "../context/context.ts";
import { attach, type ScopeWatch } from "./attach.ts";
import { toEventFilter } from "./event-filter.ts";

test("a process that stops takes no reader (attach.5)", async () => {
  const agent = { events: { stopped: () => true } } as unknown as AgentContext;
  const filter = toEventFilter({ channels: ["values"] });
  await assert.rejects(attach(agent, "thread", filter, {} as ScopeWatch), {
    code: "shutting_down",
    headers: { "Retry-After": "1" },
  });
});
