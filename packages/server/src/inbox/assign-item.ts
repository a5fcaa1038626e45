// Item assignment: a person claims an item, so that others cannot answer it through the inbox.
// Invariants:
//   - During an assignment, only its owner answers through the inbox. Direct resumes ignore it: an assignment
//     coordinates people, not programs. The audit trail has both.
//   - An item has one assignment: of concurrent claims, one succeeds.
//   - An expired assignment does not count, nor does that of a closed item.
//   - An assignment never widens the review rules: a person whom they exclude can neither claim nor get the item.
import type { AgentContext } from "../context/context.ts";
import { type Item, type ItemAddress, requireOpenItem } from "./inbox.ts";
import { toCaller, nameRefusal, requireReviewer, reviewRefusal } from "../model/review/reviewers.ts";
import { requireAssignable } from "../interrupts/assignments.ts";
import type { Assignment, AuditEntry, Caller, Interrupt } from "../model/model.ts";
import { nameAuthor } from "../model/audit-author.ts";
import type { InterruptTx } from "../ports/ports.ts";

/**
 * The owner may repeat the call to extend an expiring assignment.
 * @throws {ApiError} `interrupt_claimed`, and the errors of requireOpenItem()
 */
export async function assignItem(
  agent: AgentContext,
  caller: Caller,
  { threadId, interruptId }: ItemAddress,
  forMs: number | null,
): Promise<Item> {
  const at = agent.clock.now();
  const item = await agent.storage.transaction(async (tx) => {
    const { interrupt, thread } = await requireOpenItem(tx, { threadId, interruptId });
    requireAssignable(interrupt, caller, at); // in one transaction with the write below
    requireReviewer(interrupt, caller);
    const claim: Assignment = { by: caller.name, at, until: forMs === null ? null : at + forMs };
    await store(tx, interrupt, { caller, action: "claimed", claim, at });
    return { thread, interrupt: { ...interrupt, claim } };
  });
  agent.inbox.changed("claimed", item.interrupt, item.thread.metadata);
  return item;
}

/** Assignment by one person to another. */
export interface AssignTo {
  readonly to: string;
  readonly forMs: number | null;
  /** Replaces the claim of another person. */
  readonly force: boolean;
}

/** @throws {ApiError} `interrupt_claimed`, `reviewer_not_assigned`, `reviewer_excluded`, and those of requireOpenItem() */
export async function assignItemTo(
  agent: AgentContext,
  caller: Caller,
  { threadId, interruptId }: ItemAddress,
  { to, forMs, force }: AssignTo,
): Promise<Item> {
  const at = agent.clock.now();
  const item = await agent.storage.transaction(async (tx) => {
    const { interrupt, thread } = await requireOpenItem(tx, { threadId, interruptId });
    if (!force) requireAssignable(interrupt, caller, at);
    const person = await tx.person(to);
    const refusal = person === null ? nameRefusal(interrupt, to) : reviewRefusal(interrupt, toCaller(person));
    if (refusal !== null) throw refusal;
    const until = forMs === null ? null : at + forMs;
    const claim: Assignment = { by: to, at, until, ...(to === caller.name ? {} : { assignedBy: caller.name }) };
    await store(tx, interrupt, { caller, action: "assigned", claim, at });
    return { thread, interrupt: { ...interrupt, claim } };
  });
  agent.inbox.changed("claimed", item.interrupt, item.thread.metadata);
  return item;
}

/**
 * @param force releases the assignment of another person, who may be away
 * @throws {ApiError} `interrupt_claimed`, and the errors of requireOpenItem()
 */
export async function releaseItem(
  agent: AgentContext,
  caller: Caller,
  { threadId, interruptId }: ItemAddress,
  force: boolean,
): Promise<Item> {
  const at = agent.clock.now();
  const { item, released } = await agent.storage.transaction(async (tx) => {
    const { interrupt, thread } = await requireOpenItem(tx, { threadId, interruptId });
    if (interrupt.claim === null) return { item: { thread, interrupt }, released: false };
    if (!force) requireAssignable(interrupt, caller, at);
    await store(tx, interrupt, { caller, action: "released", claim: null, at });
    return { item: { thread, interrupt: { ...interrupt, claim: null } }, released: true };
  });
  if (released) agent.inbox.changed("released", item.interrupt, item.thread.metadata);
  return item;
}

/** Stores a change of the assignment with its audit entry. */
async function store(
  tx: Pick<InterruptTx, "putInterrupts" | "audit">,
  interrupt: Interrupt,
  change: {
    readonly caller: Caller;
    readonly action: "claimed" | "assigned" | "released";
    readonly claim: Assignment | null;
    readonly at: number;
  },
): Promise<void> {
  const { threadId, interruptId } = interrupt;
  const { caller, action, claim, at } = change;
  const value = (claim ?? interrupt.claim)?.by ?? null;
  const entry: AuditEntry = { ...nameAuthor(caller, "inbox"), threadId, at, action, interruptId, runId: null, value };
  await tx.putInterrupts([{ ...interrupt, claim }]);
  await tx.audit([entry]);
}
