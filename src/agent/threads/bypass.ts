// Bypass: what goes round a person's decision without answering: compiled breakpoints that a run switches off, and edits of
// a state in the name of a node. Handlers are asked for it by an event of its own.
import type { Ask } from "../auth/authorize.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context.ts";
import { authorOf } from "../model/audit-author.ts";
import { assistantIdOf } from "../model/built-in-assistant.ts";
import type { AuditEntry, Caller, Run, Scope } from "../model/model.ts";
import type { GraphDescription, Tx } from "../ports/ports.ts";
import { threadNotFound } from "./find-thread.ts";

type Given = "*" | readonly string[] | null | undefined;

/** Lists that a run's request gives in the place of the compiled ones. */
export interface GivenBreakpoints {
  readonly before: Given;
  readonly after: Given;
}

/** @returns the compiled breakpoints that are switched off: `before:<node>`, `after:*` */
export function switchedOff(graph: GraphDescription | null, given: GivenBreakpoints): readonly string[] {
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

/** @returns what the thread must fit besides. @throws {ApiError} `forbidden` */
export async function askToSwitchOff(
  agent: AgentContext,
  ask: Ask,
  assistantId: string,
  threadId: string | null,
  given: GivenBreakpoints,
): Promise<Scope> {
  if (!Array.isArray(given.before) && !Array.isArray(given.after)) return null;
  const assistant = await agent.storage.transaction((tx) => tx.assistant(assistantIdOf(assistantId)));
  const graphId = assistant?.graphId ?? assistantId;
  const off = switchedOff(agent.graphs.describe(graphId), given);
  return off.length === 0 ? null : ask("threads:bypass", { thread_id: threadId, metadata: {}, breakpoints: off });
}

/** Names that stand for something else than a node: none of them lets a graph go on behind a question. */
const NO_NODES: ReadonlySet<string | null> = new Set([null, "__end__", "__copy__"]);

/**
 * @param pausedOrOlder the thread is paused, or the edit is of an older checkpoint
 * @returns whether the graph may go on behind what a person was to decide
 */
export function goesRound(asNode: string | null, pausedOrOlder: boolean): boolean {
  return pausedOrOlder && !NO_NODES.has(asNode);
}

/** @throws {ApiError} `forbidden`, `thread_not_found` */
export async function askToEdit(
  agent: AgentContext,
  ask: Ask,
  threadId: string,
  edit: { readonly asNode: string | null; readonly checkpointId: string | null },
): Promise<void> {
  if (!goesRound(edit.asNode, true)) return;
  const thread = await agent.storage.transaction((tx) => tx.thread(threadId));
  if (!goesRound(edit.asNode, edit.checkpointId !== null || thread?.status === "interrupted")) return;
  const scope = await ask("threads:bypass", { thread_id: threadId, metadata: {}, as_node: edit.asNode });
  if (thread !== null && !inScope(thread.metadata, scope)) throw threadNotFound(threadId);
}

/** In the transaction that accepts the run. */
export async function noteSwitchedOff(agent: AgentContext, tx: Tx, caller: Caller, run: Run): Promise<void> {
  const { interruptBefore: before, interruptAfter: after } = run.request;
  const off = switchedOff(agent.graphs.describe(run.graphId), { before, after });
  if (off.length === 0) return;
  const { threadId, runId, createdAt: at } = run;
  const entry: AuditEntry = {
    threadId,
    at,
    action: "breakpoints_off",
    interruptId: null,
    runId,
    value: off,
    ...authorOf(caller),
  };
  await tx.audit([entry]);
}
