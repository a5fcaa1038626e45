// Tests of escalations with a controlled clock (escalate-items.1, escalation.1, escalation.2). The storage is a stand-in
// with one item.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import type { AgentContext } from "../context/context.ts";
import type { AuditEntry, Interrupt } from "../model/model.ts";
import { buildReview } from "../model/review/review-rules.ts";
import { createDeadlines } from "./deadline-scheduler.ts";

const MINUTE = 60_000;

function setUp() {
  const clock = createFakeClock();
  const escalate = [
    { after_seconds: 60, assignees: ["bob", "ann"] },
    { after_seconds: 120, assignees: ["cfo"] },
  ];
  const assistant = { interrupt_review: { assignees: ["ann"], escalate } };
  const review = buildReview({ value: "?", responseSchema: null, assistant, startedBy: [], at: clock.now() });
  const stored = {
    item: {
      threadId: "t",
      interruptId: "i",
      state: "open",
      claim: { by: "ann", at: 0, until: null },
      snoozedUntil: clock.now() + 60 * MINUTE,
      review,
      escalatesAt: review?.escalations[0]?.at ?? null,
    } as unknown as Interrupt,
    status: "interrupted",
  };
  const audit: AuditEntry[] = [];
  const told: (readonly string[])[] = [];
  const tx = {
    nextDeadline: () => null,
    dueInterrupts: () => [],
    nextEscalation: () => stored.item.escalatesAt,
    dueEscalations: (at: number) => ((stored.item.escalatesAt ?? Infinity) <= at ? [stored.item] : []),
    thread: () => ({ status: stored.status, metadata: {} }),
    interrupt: () => stored.item,
    putInterrupts: ([item]: readonly [Interrupt]) => void (stored.item = item),
    audit: (entries: readonly AuditEntry[]) => void audit.push(...entries),
    run: () => null,
    assistant: () => null,
  };
  const deadlines = createDeadlines({
    clock,
    storage: { transaction: async (work: (given: typeof tx) => unknown) => work(tx) },
    inbox: { onAdded: () => undefined, changed: () => undefined },
    notifier: {
      escalated: (_tx: unknown, _item: unknown, { added }: { readonly added: readonly string[] }) =>
        void told.push(added),
      takeStored: () => false,
    },
    webhooks: { wake: () => undefined },
    log: { warning: () => undefined, info: () => undefined },
  } as unknown as AgentContext);
  return { clock, deadlines, stored, audit, told };
}

test("each step extends the assignees at its time, once, and ends claim and follow-up date", async () => {
  const { clock, deadlines, stored, audit, told } = setUp();
  await deadlines.start();
  await clock.advance(MINUTE - 1);
  assert.deepEqual([stored.item.review?.assignees, audit.length], [[["ann"]], 0]);
  await clock.advance(1);
  assert.deepEqual(stored.item.review?.assignees, [["ann", "bob"]]);
  assert.deepEqual([stored.item.claim, stored.item.snoozedUntil], [null, null]);
  await clock.advance(MINUTE);
  assert.deepEqual(stored.item.review?.assignees, [["ann", "bob", "cfo"]]);
  assert.equal(stored.item.escalatesAt, null);
  assert.deepEqual(told, [["bob", "ann"], ["cfo"]]);
  assert.deepEqual(
    audit.map(({ action, by, value }) => [action, by, value]),
    [
      ["escalated", "escalation", ["bob", "ann"]],
      ["escalated", "escalation", ["cfo"]],
    ],
  );
  await clock.advance(10 * MINUTE);
  assert.deepEqual([audit.length, clock.timers()], [2, 0]);
  await deadlines.stop();
});

test("steps that were missed during a stop act together at the start (escalation.1)", async () => {
  const { clock, deadlines, stored, told } = setUp();
  await clock.advance(5 * MINUTE);
  await deadlines.start();
  await clock.advance(0);
  assert.deepEqual([stored.item.review?.assignees, told], [[["ann", "bob", "cfo"]], [["bob", "ann", "cfo"]]]);
  await deadlines.stop();
});
