// Assistant changes: create, patch, and restore a version. Each is one transaction.
// Invariants:
//   edit-assistant.1. Every change creates a version with the next number. The active state is always one of the stored
//     versions.
//   - A restore brings back the whole version: graph, config, context, metadata, name and description.
//   - Whoever changes who decides about the interrupts of an assistant needs the right to administrate, by a restored
//     version as by any other change.
//   - A built-in assistant keeps its graph.
// Runs keep the config and context of their acceptance; changes here do not affect them.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { requireRight, type Right } from "../../auth/authorize.ts";
import { decisionRules } from "../../model/review/review-rules.ts";
import type { AgentContext } from "../../context/context.ts";
import { findAssistant, requireGraph, toVersion } from "./assistants.ts";
import { checkOnPaused } from "../../interrupts/on-paused.ts";
import { buildAct, describeChange } from "../../model/audit/build-act.ts";
import type { Assistant, AssistantVersion, Caller, Scope } from "../../model/model.ts";
import { builtInAssistantId, REQUEST_GRAPH } from "../../model/built-in-assistant.ts";
import type { AssistantTx, AssistantVersionQuery, Tx } from "../../ports/ports.ts";
import { readRows } from "../../context/read-rows.ts";
import { inScope, stamped } from "../../auth/scope.ts";
import { mergedMetadata } from "../../context/merged-metadata.ts";

/** The oldest versions are deleted. */
const VERSIONS_KEPT = 1000;

export interface AssistantDraft extends Pick<
  Assistant,
  "graphId" | "name" | "description" | "metadata" | "config" | "context"
> {
  readonly assistantId: string | null;
  readonly ifExists: "raise" | "do_nothing";
}

export interface AssistantAuthor {
  readonly caller: Caller;
  readonly scope: Scope;
}

/**
 * @param readable scope for showing an existing assistant to the caller
 * @throws {ApiError} `graph_not_found`, `assistant_exists`, `assistant_limit`
 */
export async function createAssistant(
  agent: AgentContext,
  { caller, scope, readable }: AssistantAuthor & { readonly readable: Scope },
  draft: AssistantDraft,
): Promise<Assistant> {
  requireGraph(agent, draft.graphId);
  checkOnPaused(draft.metadata);
  const { ifExists, ...given } = draft;
  const at = agent.clock.now();
  const assistantId = draft.assistantId ?? agent.newId();
  const metadata = stamped(given.metadata, scope);
  const assistant = { ...given, metadata, assistantId, version: 1, createdAt: at, updatedAt: at };
  return agent.storage.transaction(async (tx) => {
    const existing = draft.assistantId === null ? null : await tx.assistant(assistantId, true);
    if (existing !== null) {
      const visible = inScope(existing.metadata, scope) && inScope(existing.metadata, readable);
      if (ifExists === "do_nothing" && visible) return existing;
      throw new ApiError("assistant_exists", `Assistant with ID ${assistantId} already exists`);
    }
    const { assistantsMax } = agent.limits;
    const own = agent.graphs.describe(REQUEST_GRAPH) === null ? 0 : 1; // the server's own takes no place
    if ((await tx.countAllAssistants()) - own >= assistantsMax) {
      throw new ApiError("assistant_limit", `The limit of ${assistantsMax} assistants is reached.`, {
        limit: assistantsMax,
      });
    }
    await tx.insertAssistant(assistant);
    await tx.insertAssistantVersion(toVersion(assistant));
    await tx.audit([buildAct(caller, { action: "assistant_created", at, ...describeAssistant(assistant) })]);
    return assistant;
  });
}

export type AssistantPatch = Partial<Omit<AssistantDraft, "assistantId" | "ifExists">>;

/**
 * Merges metadata one level deep; other members replace the old values.
 * @throws {ApiError} `assistant_not_found`, `graph_not_found`, `assistant_built_in`
 */
export async function patchAssistant(
  agent: AgentContext,
  { caller, scope }: AssistantAuthor,
  idOrGraph: string,
  patch: AssistantPatch,
): Promise<Assistant> {
  checkOnPaused(patch.metadata ?? {});
  return agent.storage.transaction(async (tx) => {
    const assistant = await findAssistant(agent, tx, idOrGraph, { scope, toChange: true });
    const metadata = mergedMetadata(agent, assistant.metadata, patch.metadata, scope);
    const changed = { ...assistant, ...patch, metadata, updatedAt: agent.clock.now() };
    checkGraph(agent, assistant, changed.graphId);
    const version = (await tx.newestAssistantVersion(assistant.assistantId)) + 1; // edit-assistant.1
    await tx.insertAssistantVersion(toVersion({ ...changed, version }));
    await tx.deleteAssistantVersionsBefore(assistant.assistantId, version - VERSIONS_KEPT + 1);
    return activate(tx, caller, { ...changed, version }, { before: assistant, changed: Object.keys(patch) });
  });
}

/** @throws {ApiError} `forbidden`, `assistant_not_found`, `assistant_version_not_found`, `graph_not_found`, `assistant_built_in` */
export async function setLatestVersion(
  agent: AgentContext,
  idOrGraph: string,
  { caller, scope, version, right }: AssistantAuthor & { readonly version: number; readonly right: Right },
): Promise<Assistant> {
  return agent.storage.transaction(async (tx) => {
    const assistant = await findAssistant(agent, tx, idOrGraph, { scope, toChange: true });
    const stored = await tx.assistantVersion(assistant.assistantId, version);
    if (stored === null) {
      throw new ApiError("assistant_version_not_found", `The assistant has no version ${version}.`, {
        newest: await tx.newestAssistantVersion(assistant.assistantId),
      });
    }
    checkGraph(agent, assistant, stored.graphId);
    if (!isDeepStrictEqual(decisionRules(stored.metadata), decisionRules(assistant.metadata)))
      requireRight(right, "assistants:administrate", assistant);
    const metadata = stamped(stored.metadata, scope);
    const restored = { ...stored, metadata, createdAt: assistant.createdAt, updatedAt: agent.clock.now() };
    return activate(tx, caller, restored, { before: assistant, changed: ["version"] });
  });
}

/** Newest first. @throws {ApiError} `assistant_not_found` */
export async function listVersions(
  agent: AgentContext,
  idOrGraph: string,
  query: AssistantVersionQuery,
): Promise<AsyncIterable<AssistantVersion>> {
  const { assistantId, numbers } = await agent.storage.transaction(async (tx) => {
    const assistant = await findAssistant(agent, tx, idOrGraph);
    return { ...assistant, numbers: await tx.assistantVersions(assistant.assistantId, query) };
  });
  return readRows(agent.storage, numbers, (tx, version) => tx.assistantVersion(assistantId, version));
}

export function isBuiltIn({ assistantId, graphId }: Assistant): boolean {
  return assistantId === builtInAssistantId(graphId);
}

function checkGraph(agent: AgentContext, assistant: Assistant, graphId: string): void {
  if (graphId === assistant.graphId) return;
  requireGraph(agent, graphId);
  if (isBuiltIn(assistant)) {
    const detail = `${assistant.assistantId} is the assistant of ${assistant.graphId}: create one of your own for ${graphId}.`;
    throw new ApiError("assistant_built_in", detail);
  }
}

/** @param changed members, as the call names them */
async function activate(
  tx: AssistantTx & Pick<Tx, "audit">,
  caller: Caller,
  assistant: Assistant,
  { before, changed }: { readonly before: Assistant; readonly changed: readonly string[] },
): Promise<Assistant> {
  await tx.updateAssistant(assistant.assistantId, assistant);
  const { subject, fields } = describeAssistant(assistant);
  const act = {
    subject,
    fields: describeChange(changed, describeAssistant(before).fields, fields),
    action: "assistant_updated",
    at: assistant.updatedAt,
  } as const;
  await tx.audit([buildAct(caller, act)]);
  return assistant;
}

/** With the rules about who decides. */
export function describeAssistant(assistant: Assistant): { readonly subject: string; readonly fields: JsonObject } {
  const { assistantId, graphId, name, version, metadata } = assistant;
  return { subject: assistantId, fields: { name, graph_id: graphId, version, rules: decisionRules(metadata) } };
}
