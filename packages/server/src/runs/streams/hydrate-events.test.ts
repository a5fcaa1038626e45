// Tests of event hydration: the text of a state that is not stored yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventLog, FIRST_EVENT } from "../../events/event-log.ts";
import type { AgentContext } from "../../context/context.ts";
import { withTexts } from "./hydrate-events.ts";

const RUN = { threadId: "thread", runId: "run", attempt: 1 };

/** The storage has no checkpoint. */
const agent = { storage: { read: () => Promise.resolve(null) } } as unknown as AgentContext;

function unreadLog() {
  const log = createEventLog({
    run: RUN,
    start: FIRST_EVENT,
    limits: { eventsMax: 100, bytesMax: 1e6 },
    isRead: () => false,
    onEvent: () => undefined,
    now: () => 0,
  });
  log.append({ name: "values", data: { reference: "checkpoint", text: () => '{"step":1}' } });
  return log;
}

function takeBatch(log: ReturnType<typeof unreadLog>) {
  const batch = log.from(0);
  assert.ok(batch !== null && batch !== "older");
  return batch;
}

test("a reader that joins before the state is stored gets its text (hydrate-events.1, event-log.2)", async () => {
  const log = unreadLog();
  const { events } = takeBatch(log);
  const drained = log.drain(null); // a transaction is under way
  assert.deepEqual(
    (await withTexts(agent, RUN, events)).map(({ id, text }) => [id, text]),
    [[0, '{"step":1}']],
  );
  drained.committed();
});

test("once the state is stored, its text comes from the storage, and the memory is free", async () => {
  const log = unreadLog();
  const { events } = takeBatch(log);
  log.drain(null).committed();
  assert.equal(events[0]?.render, null);
  assert.deepEqual(await withTexts(agent, RUN, events), [], "it was rolled back since");
});
