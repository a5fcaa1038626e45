// Behind a review: the decisions under review rules that a state stands on. People decided about that state; a change of it
// would carry their decision to another one.
// Invariants:
//   - On a thread that had a question or breakpoint with review rules, a command or an edit that acts for nodes needs
//     threads:bypass in every status. So does an update, an edit from which the graph goes on, and a run from a
//     checkpoint, at the checkpoint of such a decision or behind it.
//   - The trail has `bypassed` for each decision that it goes behind.
//   - A line of checkpoints that cannot be followed to its start counts as behind. A line begins at the last new input:
//     from there the graph asks again.
//   - A run from the checkpoint of a breakpoint goes past it. So a breakpoint that nobody decided counts there like a
//     decision, also for a run that only continues.
//   - A run that does not start at once may start behind a decision that is not made yet. So it needs the right for a
//     change anywhere, if its thread or an assistant of it has review rules. Rules may also come while it waits, with a
//     payload: then it fails where it would start, whoever sent it.
import { gotoTargets, type Intent, withoutEnd } from "../interrupts/run-intent.ts";
import { nameAuthor } from "../model/audit-author.ts";
import { hasReviewRules } from "../model/review/review-rules.ts";
import type { Assistant, AuditEntry, Caller, Checkpoint, Interrupt, Run, Thread } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";

export interface Reviewed {
  /** Ids of the decisions at or before the place; of the others too if the line is cut. */
  readonly behind: readonly string[];
  /** The thread had a question or breakpoint with review rules, wherever. */
  readonly isReviewed: boolean;
  readonly startsLater?: boolean;
}

const NOT_REVIEWED: Reviewed = { behind: [], isReviewed: false };
const LINE_MAX = 1000;

export type ReviewTx = Pick<Tx, "assistant" | "interrupts" | "breakpoints" | "checkpointLine">;

/** @param from a checkpoint of the root graph; null for one that has no line */
export async function findReviewed(
  tx: ReviewTx,
  { threadId }: Pick<Thread, "threadId">,
  from: string | null,
): Promise<Reviewed> {
  const breakpoints = (await tx.breakpoints(threadId)).filter(({ review }) => review !== null);
  const questions = (await tx.interrupts(threadId, null)).filter(({ review }) => review !== null);
  if (questions.length + breakpoints.length === 0) return NOT_REVIEWED;
  const answered = [...questions, ...breakpoints].filter(({ state }) => state === "answered");
  const decided = new Map(answered.map((one) => [readPlace(one.rootCheckpointId), one.interruptId]));
  const stored = from === null ? [] : await tx.checkpointLine(threadId, "", from, { limit: LINE_MAX, channels: [] });
  const input = stored.findIndex(({ checkpoint }) => isInput(checkpoint));
  const line = input === -1 ? stored : stored.slice(0, input + 1);
  const met = line.flatMap(({ checkpoint }) => decided.get(readPlace(checkpoint.checkpointId)) ?? []);
  const isWhole = input !== -1 || line.at(-1)?.checkpoint.parentId === null;
  const behind = met.length > 0 || isWhole ? met : [...decided.values()];
  const here = breakpoints.filter(({ state, interruptId }) => state === "abandoned" && isAt(interruptId, from));
  return { isReviewed: true, behind: [...behind, ...here.map(({ interruptId }) => interruptId)] };
}

/** The checkpoint of the root graph at which a subgraph had a checkpoint; null if it does not say. */
export async function findRootCheckpoint(
  tx: Pick<Tx, "checkpoint">,
  { threadId }: Pick<Thread, "threadId">,
  { ns, checkpointId }: { readonly ns: string; readonly checkpointId: string },
): Promise<string | null> {
  if (ns === "") return checkpointId;
  const { metadata = "{}" } = (await tx.checkpoint(threadId, ns, checkpointId))?.checkpoint ?? {};
  const { parents } = JSON.parse(metadata) as { readonly parents?: Readonly<Record<string, string>> };
  return parents?.[""] ?? null;
}

function isInput({ metadata }: Pick<Checkpoint, "metadata">): boolean {
  return (JSON.parse(metadata) as { readonly source?: string }).source === "input";
}

function readPlace(checkpointId: string): string {
  return checkpointId.replaceAll("-", "");
}

function isAt(breakpointId: string, from: string | null): boolean {
  return from !== null && breakpointId === readPlace(from);
}

/** @param nodes that the call acts for */
export function needsBypass({ behind, isReviewed, startsLater }: Reviewed, nodes: readonly string[]): boolean {
  return behind.length > 0 || (isReviewed && (nodes.length > 0 || startsLater === true));
}

/** What a call changes of the state behind a decision. */
export interface Change {
  /** Nodes that it acts for. */
  readonly nodes: readonly string[];
  /** For the trail, without nodes. */
  readonly what: "update" | "checkpoint" | "edit";
}

/** A change, and the decisions behind which it goes. */
export interface Behind {
  readonly change: Change;
  readonly reviewed: Reviewed;
  /** Open items have entries of their own in the trail. */
  readonly hasOpen: boolean;
}

/** Where a run begins. */
interface Beginning {
  readonly intent: Intent;
  readonly forkFrom: string | null;
  readonly waiting: readonly Interrupt[];
  /** The breakpoint that the run goes past, without deciding it. */
  readonly passed: Interrupt | null;
  /** The assistant of a run that does not start at once; null for one that does. */
  readonly later: Assistant | null;
}

/** @returns null for new work, and for a run that only continues or answers */
export async function findBehind(
  tx: ReviewTx,
  thread: Pick<Thread, "threadId" | "assistantId" | "checkpointId">,
  { intent, forkFrom, waiting, passed, later }: Beginning,
): Promise<Behind | null> {
  const change = findChange(intent, passed === null ? forkFrom : passed.checkpointId);
  if (change === null) return null;
  const reviewed = await findReviewed(tx, thread, forkFrom ?? thread.checkpointId);
  if (later === null) return { change, reviewed, hasOpen: waiting.length > 0 };
  const isReviewed = reviewed.isReviewed || (await hasRules(tx, thread, later));
  return { change, reviewed: { ...reviewed, isReviewed, startsLater: true }, hasOpen: false };
}

/** An update, or a run from a checkpoint, that was let through in front of what it now begins behind. */
export async function isOvertaken(
  tx: ReviewTx & Pick<Tx, "listAudit">,
  thread: Pick<Thread, "threadId" | "checkpointId">,
  { runId, input, request: { command, checkpointId } }: Pick<Run, "runId" | "input" | "request">,
): Promise<boolean> {
  const { update, goto, answers, givesUp } = command ?? {};
  if (update === undefined && checkpointId === null) return false;
  if ([goto, answers, givesUp].some((one) => one !== undefined) || input !== null) return false; // it has its right, or needs none
  const { behind } = await findReviewed(tx, thread, checkpointId ?? thread.checkpointId);
  if (behind.length === 0) return false;
  const trail = await tx.listAudit(thread.threadId);
  return !trail.some((entry) => entry.action === "bypassed" && entry.runId === runId);
}

/** The assistant of the call, or that of the thread, has review rules. */
export async function hasRules(
  tx: Pick<Tx, "assistant">,
  thread: Pick<Thread, "assistantId"> | null,
  called: Assistant | null,
): Promise<boolean> {
  const id = thread?.assistantId ?? null;
  const own = id === null ? null : await tx.assistant(id);
  return [called, own].some((assistant) => hasReviewRules(assistant?.metadata ?? {}));
}

function findChange(intent: Intent, forkFrom: string | null): Change | null {
  if (intent.kind === "input" || intent.kind === "end_thread") return null;
  const { update, goto } = intent.kind === "continue" ? {} : intent;
  const nodes = withoutEnd(gotoTargets(goto));
  if (nodes.length === 0 && update === undefined && forkFrom === null) return null;
  return { nodes, what: update === undefined ? "checkpoint" : "update" };
}

/**
 * An entry without an id where it acts for nodes in front of every decision, unless open items have
 * entries of their own.
 */
export async function noteBypassed(
  tx: Pick<Tx, "audit">,
  { reviewed, change, hasOpen }: Behind,
  caller: Caller,
  place: Pick<AuditEntry, "threadId" | "at" | "runId">,
): Promise<void> {
  const { behind } = reviewed;
  if (!needsBypass(reviewed, change.nodes) || (behind.length === 0 && hasOpen)) return;
  const ids = behind.length === 0 ? [null] : [...new Set(behind)];
  const entry = { ...place, value: change.nodes.join(", ") || change.what };
  await tx.audit(ids.map((interruptId) => ({ ...nameAuthor(caller), ...entry, action: "bypassed", interruptId })));
}

/** The breakpoint whose checkpoint a run begins at while it is not open. One that was continued is passed by forks only. */
export async function findPassed(
  tx: Pick<Tx, "interrupt">,
  { threadId, checkpointId }: Pick<Thread, "threadId" | "checkpointId">,
  { intent, forkFrom }: Pick<Beginning, "intent" | "forkFrom">,
): Promise<Interrupt | null> {
  const from = forkFrom ?? checkpointId;
  if ((intent.kind !== "continue" && intent.kind !== "command") || from === null) return null;
  const found = await tx.interrupt(threadId, readPlace(from));
  if (found?.kind !== "breakpoint" || found.state === "open") return null;
  return forkFrom !== null || found.state === "abandoned" ? found : null;
}
