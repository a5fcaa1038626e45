// Crons: create, patch, search and delete. cron-scheduler.ts runs them.
// Invariants:
//   - An accepted cron has a schedule with a tick, in an existing time zone.
//   - The runs of a cron belong to whoever changed it last: they have that name, and the reach it had then. A change
//     that only disables the cron leaves it to its caller.
//   - Everybody who made or changed a cron counts as an author of its runs, for rules with four eyes.
//   - A caller takes a cron over with the rights of making it, asked for the payload as it is after the change.
import { parse } from "@holdpoint/api/operation.ts";
import { runBody } from "@holdpoint/api/runs.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { type Reach, GRANTED } from "../../auth/authorize.ts";
import type { AgentContext } from "../../context/context.ts";
import { findAssistant } from "../../threads/assistants/assistants.ts";
import { type Schedule, nextTick } from "./cron-schedule.ts";
import { readIntent } from "../../interrupts/run-intent.ts";
import { buildAct, describeChange } from "../../model/audit/build-act.ts";
import type { Assistant, Caller, Cron, OnCompletion, Scope } from "../../model/model.ts";
import { builtInAssistantId } from "../../model/built-in-assistant.ts";
import type { AssistantTx, CronFilter, CronQuery, CronTx, Tx } from "../../ports/ports.ts";
import { readRows } from "../../context/read-rows.ts";
import { callFromBody } from "../accept/run-body.ts";
import { type RunCall, checkControlValues, checkNodeNames } from "../accept/run-request.ts";
import { inScope, stamped } from "../../auth/scope.ts";
import { mergedMetadata } from "../../context/merged-metadata.ts";
import { requireThread, threadNotFound } from "../../threads/find-thread.ts";

const EDITORS_MAX = 100;

export interface NewCron extends Schedule {
  readonly threadId: string | null;
  readonly enabled: boolean;
  readonly onRunCompleted: OnCompletion;
  readonly metadata: JsonObject;
  /** The members of a run-creating request. */
  readonly payload: JsonObject;
}

/** Omitted members stay unchanged; metadata and payload are merged one level deep. */
export type CronPatch = Partial<Omit<NewCron, "threadId">>;

export interface CronCreator {
  readonly caller: Caller;
  readonly scope: Scope;
  readonly reach: Reach;
}

/**
 * @throws {ApiError} `cron_schedule_invalid`, `cron_limit`, `assistant_not_found`, `thread_not_found`, `node_unknown`,
 *   `webhook_refused`
 */
export async function createCron(
  agent: AgentContext,
  { caller, scope, reach }: CronCreator,
  given: NewCron,
): Promise<Cron> {
  const at = agent.clock.now();
  const due = nextTick(given, at);
  if (due === null) throw new ApiError("cron_schedule_invalid", "The schedule has no tick before end_time.");
  const cron = await agent.storage.transaction(async (tx) => {
    const assistant = await checkCall(agent, tx, { ...given, reach });
    const { cronsMax } = agent.limits;
    if ((await tx.countCrons(ALL)) >= cronsMax) {
      throw new ApiError("cron_limit", `The limit of ${cronsMax} crons is reached.`, { limit: cronsMax });
    }
    const made: Cron = {
      ...given,
      cronId: agent.newId(),
      assistantId: assistant.assistantId,
      metadata: stamped(given.metadata, scope),
      nextAt: given.enabled ? due : null,
      createdAt: at,
      updatedAt: at,
      caller: toOwner(caller),
      reach,
      disabledReason: null,
    };
    await tx.insertCron(made);
    await tx.audit([buildAct(caller, { action: "cron_created", at, ...describeCron(made) })]);
    return made;
  });
  agent.wakeCrons();
  return cron;
}

/** Who changes a cron. */
export interface CronEditor extends Pick<CronCreator, "caller" | "scope"> {
  /** The reach of its runs from now on, asked for this payload; null if the change only disables the cron. */
  readonly takeover: { readonly reach: Reach; readonly before: JsonObject } | null;
}

export const onlyDisables = ({ enabled, ...more }: CronPatch): boolean =>
  enabled === false && Object.keys(more).length === 0;

/**
 * @returns null if the payload is another one by now, for which nobody asked
 * @throws {ApiError} `cron_not_found`, `cron_schedule_invalid`, `node_unknown`, `webhook_refused`
 */
export async function patchCron(
  agent: AgentContext,
  { caller, scope, takeover }: CronEditor,
  cronId: string,
  patch: CronPatch,
): Promise<Cron | null> {
  const at = agent.clock.now();
  const cron = await agent.storage.transaction(async (tx) => {
    const before = await requireCron(tx, cronId, null);
    if (takeover !== null && !isDeepStrictEqual(takeover.before, before.payload)) return null;
    const after: Cron = {
      ...before,
      ...patch,
      metadata: mergedMetadata(agent, before.metadata, patch.metadata, scope),
      payload: { ...before.payload, ...patch.payload },
      ...(takeover === null ? {} : { reach: takeover.reach, caller: withAuthors(toOwner(caller), before.caller) }),
      ...(patch.enabled === undefined ? {} : { disabledReason: null }),
      updatedAt: at,
    };
    if (takeover !== null) await checkCall(agent, tx, after);
    const moved = ["schedule", "timezone", "endTime", "enabled"].some((member) => member in patch);
    const due = moved ? nextTick(after, at) : before.nextAt;
    const nextAt = after.enabled ? due : null;
    await tx.updateCron(cronId, { ...after, nextAt });
    const { subject, fields } = describeCron(after);
    const { payload, ...rest } = patch;
    const change = describeChange(Object.keys({ ...rest, ...payload }), describeCron(before).fields, fields);
    await tx.audit([buildAct(caller, { action: "cron_updated", at, subject, fields: change })]);
    return { ...after, nextAt };
  });
  agent.wakeCrons();
  return cron;
}

/** The origin of this call is not that of the runs. */
function toOwner({ origin: _origin, ...owner }: Caller): Caller {
  return owner;
}

function withAuthors(owner: Caller, { name, editors = [] }: Caller): Caller {
  const others = [...new Set([...editors, name])].filter((other) => other !== owner.name);
  return others.length === 0 ? owner : { ...owner, editors: others.slice(-EDITORS_MAX) };
}

/** @throws {ApiError} `cron_not_found` */
export async function deleteCron(agent: AgentContext, caller: Caller, cronId: string): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    const cron = await requireCron(tx, cronId, null);
    await tx.deleteCron(cronId);
    await tx.audit([buildAct(caller, { action: "cron_deleted", at: agent.clock.now(), ...describeCron(cron) })]);
  });
}

export function describeCron(cron: Cron): { readonly subject: string; readonly fields: JsonObject } {
  const { cronId, assistantId, threadId, schedule, timezone, enabled, endTime, caller } = cron;
  const end = endTime === null ? null : new Date(endTime).toISOString();
  const fields = { assistant_id: assistantId, thread_id: threadId, schedule, timezone, end_time: end, enabled };
  return { subject: cronId, fields: { ...fields, user_id: caller.user === null ? null : caller.name } };
}

/** Finds the crons of a page at once, and reads each on demand. */
export async function searchCrons(
  agent: AgentContext,
  query: CronQuery,
): Promise<{ readonly total: number; readonly count: number; readonly crons: AsyncIterable<Cron> }> {
  const found = named(query);
  const { longReads } = agent.storage;
  const [ids, total] = [await longReads.searchCrons(found), await longReads.countCrons(found)];
  const read = async (tx: CronTx, id: string): Promise<Cron | null> => {
    const cron = await tx.cron(id);
    return cron !== null && inScope(cron.metadata, query.scope) ? cron : null;
  };
  return { total, count: ids.length, crons: readRows(agent.storage, ids, read) };
}

export async function countCrons(agent: AgentContext, filter: CronFilter): Promise<number> {
  return agent.storage.longReads.countCrons(named(filter));
}

/** The call of a tick. @throws {ApiError} `invalid_request` if the payload is not (or no longer) valid */
export function buildRunCall(payload: JsonObject, metadata: JsonObject, reach: Reach): RunCall {
  const call = callFromBody({ ...parse(runBody, payload, "body"), metadata }, reach);
  return { ...call, via: "cron", rights: { disable: GRANTED } }; // asked when its caller took the cron over
}

/** @throws {ApiError} `cron_not_found` */
export async function requireCron(tx: CronTx, cronId: string, scope: Scope): Promise<Cron> {
  const cron = await tx.cron(cronId);
  if (cron !== null && inScope(cron.metadata, scope)) return cron;
  throw new ApiError("cron_not_found", `Cron with ID ${cronId} not found`);
}

const ALL: CronFilter = { scope: null, metadata: null, assistantId: null, threadId: null, enabled: null };

/** Resolves a graph's name to the id of its built-in assistant. */
function named<Filter extends CronFilter>(filter: Filter): Filter {
  const { assistantId } = filter;
  if (assistantId === null || isUuid(assistantId)) return filter;
  return { ...filter, assistantId: builtInAssistantId(assistantId) };
}

async function checkCall(
  agent: AgentContext,
  tx: AssistantTx & Pick<Tx, "thread">,
  { payload, metadata, reach, threadId }: Pick<Cron, "payload" | "metadata" | "reach" | "threadId">,
): Promise<Assistant> {
  const call = buildRunCall(payload, metadata, reach);
  const assistant = await findAssistant(agent, tx, call.assistantId, { scope: call.reach.assistants });
  const intent = readIntent(call.input, call.command);
  checkControlValues(agent.graphs, intent);
  checkNodeNames(agent.graphs, assistant.graphId, call, intent);
  if (threadId !== null && !inScope((await requireThread(tx, threadId)).metadata, reach.threads))
    throw threadNotFound(threadId);
  if (call.webhook !== null) agent.webhooks.check(call.webhook, true);
  if (call.notify !== null && call.notify !== false) agent.webhooks.check(call.notify.url, false);
  return assistant;
}
