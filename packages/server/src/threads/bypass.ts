// Bypass: ways around a human decision: disabled breakpoints of the compiled graph, state edits in the name of a node,
// and commands that go to a node. A change behind a decision is one too (behind-review.ts). Each requires its own authorization event, asked before the transaction and required
// in it, from the thread as it is then.
import type { Json } from "@holdpoint/base/json/json.ts";
import { type Ask, askRight, requireRight, type Right, type Rights } from "../auth/authorize.ts";
import type { AgentContext } from "../context/context.ts";
import { nameAuthor } from "../model/audit-author.ts";
import { toAssistantId } from "../model/built-in-assistant.ts";
import { gotoTargets, type Intent, withoutEnd } from "../interrupts/run-intent.ts";
import { hasReviewRules } from "../model/review/review-rules.ts";
import type { AuditEntry, Caller, Interrupt, Run, Thread } from "../model/model.ts";
import type { AuditTx, GraphDescription, StateUpdate, Tx } from "../ports/ports.ts";
import { type Behind, findReviewed, hasRules, needsBypass } from "./behind-review.ts";

type Given = "*" | readonly string[] | null | undefined;

/** Breakpoint lists in a run request that replace the compiled ones. */
export interface GivenBreakpoints {
  readonly before: Given;
  readonly after: Given;
}

/** @returns the disabled compiled breakpoints: `before:<node>`, `after:*` */
export function disabledBreakpoints(graph: GraphDescription | null, given: GivenBreakpoints): readonly string[] {
  const { breakpoints } = graph ?? {};
  if (breakpoints === undefined) return [];
  return [
    ...missing(breakpoints.before, given.before).map((name) => `before:${name}`),
    ...missing(breakpoints.after, given.after).map((name) => `after:${name}`),
  ];
}

function missing(compiled: "*" | readonly string[], given: Given): readonly string[] {
  if (given === null || given === undefined || given === "*") return [];
  if (compiled === "*") return ["*"];
  return compiled.filter((name) => !given.includes(name));
}

/** Asks for everything that a call may need, whatever the thread is when the call is accepted. */
export async function askForRights(agent: AgentContext, ask: Ask, asked: AskedRun): Promise<Rights> {
  const { assistantId, threadId, before, after, goto, continues } = asked;
  const place = { thread_id: threadId, metadata: {} };
  const nodes = withoutEnd(gotoTargets(goto));
  const goes =
    nodes.length > 0 || ((asked.changes || continues) && (await isReviewedNow(agent, threadId, assistantId)));
  const bypass = goes ? await askRight(ask, "threads:bypass", { ...place, goto: nodes }) : null;
  if (!continues && !Array.isArray(before) && !Array.isArray(after)) return bypass === null ? {} : { bypass };
  const [assistant, thread] = await agent.storage.read((tx) =>
    Promise.all([tx.assistant(toAssistantId(assistantId)), threadId === null ? null : tx.thread(threadId)]),
  );
  const off = disabledBreakpoints(agent.graphs.describe(assistant?.graphId ?? assistantId), { before, after });
  const asker = continues && thread?.assistantId !== assistant?.assistantId ? (thread?.assistantId ?? null) : null;
  const administrate = { assistant_id: asker, metadata: {} };
  return {
    ...(bypass === null ? {} : { bypass }),
    ...(off.length === 0 ? {} : { disable: await askRight(ask, "threads:bypass", { ...place, breakpoints: off }) }),
    ...(asker === null ? {} : { administrate: await askRight(ask, "assistants:administrate", administrate) }),
  };
}

export interface AskedRun {
  readonly assistantId: string;
  readonly threadId: string | null;
  readonly before: Given;
  readonly after: Given;
  readonly goto: Json | undefined;
  /** The call continues the thread, without input and without an answer. */
  readonly continues: boolean;
  /** It has an update, or names a checkpoint. */
  readonly changes: boolean;
}

/** @param called assistant of a run */
async function isReviewedNow(
  { storage }: AgentContext,
  threadId: string | null,
  called: string | null,
): Promise<boolean> {
  return storage.read(async (tx) => {
    const thread = threadId === null ? null : await tx.thread(threadId);
    if (thread !== null && (await findReviewed(tx, thread, null)).isReviewed) return true;
    return called !== null && hasRules(tx, thread, await tx.assistant(toAssistantId(called)));
  });
}

export interface RightsCheck {
  readonly rights: Rights;
  readonly thread: Thread;
  /** The run begins at a pause: that of the thread, or the one before the run that it displaces. */
  readonly isPaused: boolean;
  readonly intent: Intent;
  readonly graph: GraphDescription | null;
  readonly breakpoints: GivenBreakpoints;
  /** Decisions that the run changes something behind. */
  readonly behind: Behind | null;
  /** The run continues what an assistant with review rules asked, by another one (leavesRules). */
  readonly leavesRules: boolean;
}

/**
 * An edit of the state gives a question up and leaves a breakpoint without rules. The next run would ask again under
 * those of its own assistant, so the rules of the assistant that asked count too.
 * @param open open items of the thread
 */
export async function leavesRules(
  tx: Pick<Tx, "assistant">,
  open: readonly Interrupt[],
  assistantId: string,
): Promise<boolean> {
  for (const { review, assistantId: own } of open) {
    if (own === "" || own === assistantId) continue;
    if (review !== null || hasReviewRules((await tx.assistant(own))?.metadata ?? {})) return true;
  }
  return false;
}

/** Called in the transaction that accepts the run. @throws {ApiError} `forbidden` */
export function requireRights(check: RightsCheck): void {
  const { rights, thread, isPaused, intent, graph, breakpoints, behind } = check;
  if (disabledBreakpoints(graph, breakpoints).length > 0) requireRight(rights.disable, "threads:bypass", thread);
  if (intent.kind === "input" || intent.kind === "end_thread") return;
  const nodes = withoutEnd(gotoTargets(intent.kind === "continue" ? undefined : intent.goto));
  if (behind !== null && needsBypass(behind.reviewed, nodes)) requireRight(rights.bypass, "threads:bypass", thread);
  const startsLater = behind?.reviewed.startsLater === true; // perhaps behind a question that is not asked yet
  if (!isPaused && !startsLater) return;
  if (nodes.length > 0) requireRight(rights.bypass, "threads:bypass", thread);
  if (check.leavesRules) requireRight(rights.administrate, "assistants:administrate", thread);
}

/** Names other than nodes. An edit under them does not continue behind an interrupt. */
const NO_NODES: ReadonlySet<string | null> = new Set([null, "__end__", "__copy__"]);

/**
 * An edit acts for nodes: for `as_node`, and for the node of each pair of values with `as_node: "__copy__"`.
 * @returns the names, none if the graph cannot continue past a human decision by it
 */
export function actsFor({ asNode, values }: Pick<StateUpdate, "asNode" | "values">): readonly string[] {
  const pairs = asNode === "__copy__" && Array.isArray(values) ? (values as readonly Json[]) : [];
  const named = pairs.map((pair) => (Array.isArray(pair) ? String(pair[1]) : "?"));
  return [...named, ...(asNode === null || NO_NODES.has(asNode) ? [] : [asNode])];
}

/** Undefined for an edit that needs no right on any thread. */
export async function askToEdit(
  agent: AgentContext,
  ask: Ask,
  threadId: string,
  edit: StateUpdate,
): Promise<Right | undefined> {
  const nodes = actsFor(edit);
  if (nodes.length === 0 && !(await isReviewedNow(agent, threadId, null))) return undefined;
  return askRight(ask, "threads:bypass", { thread_id: threadId, metadata: {}, as_node: nodes.join(", ") });
}

/** Called in the transaction that accepts the run. */
export async function noteDisabledBreakpoints(
  agent: AgentContext,
  tx: AuditTx,
  caller: Caller,
  run: Run,
): Promise<void> {
  const { interruptBefore: before, interruptAfter: after } = run.request;
  const off = disabledBreakpoints(agent.graphs.describe(run.graphId), { before, after });
  if (off.length === 0) return;
  const { threadId, runId, createdAt: at } = run;
  const entry: AuditEntry = {
    threadId,
    at,
    action: "breakpoints_off",
    interruptId: null,
    runId,
    value: off,
    ...nameAuthor(caller),
  };
  await tx.audit([entry]);
}
