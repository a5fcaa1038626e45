// Crons: create, patch, search and delete. cron-scheduler.ts runs them.
// Invariants:
//   crons.1. An accepted cron has a schedule with a tick, in an existing time zone.
//   crons.2. The runs of a cron belong to its creator: they have its name, and the reach it had at creation.
//   crons.3. Everybody who changed a cron counts as an author of its runs, for rules with four eyes.
import { parse } from "@holdpoint/api/operation.ts";
import { runBody } from "@holdpoint/api/runs.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { type Reach, GRANTED } from "../../auth/authorize.ts";
import type { AgentContext } from "../../context/context.ts";
import { findAssistant } from "../../threads/assistants/assistants.ts";
import { type Schedule, nextTick } from "./cron-schedule.ts";
import { readIntent } from "../../interrupts/run-intent.ts";
import { type Act, buildAct } from "../../model/audit/build-act.ts";
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
  const { origin: _origin, ...maker } = caller; // the origin of this call is not that of the runs
  const at = agent.clock.now();
  const due = nextTick(given, at);
  if (due === null) throw new ApiError("cron_schedule_invalid", "The schedule has no tick before end_time."); // crons.1
  const cron = await agent.storage.transaction(async (tx) => {
    const assistant = await checkCall(agent, tx, buildRunCall(given.payload, given.metadata, reach));
    if (given.threadId !== null) {
      const thread = await requireThread(tx, given.threadId);
      if (!inScope(thread.metadata, reach.threads)) throw threadNotFound(given.threadId);
    }
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
      caller: maker, // crons.2
      reach,
    };
    await tx.insertCron(made);
    await tx.audit([buildAct(caller, { action: "cron_created", at, ...describeCron(made) })]);
    return made;
  });
  agent.wakeCrons();
  return cron;
}

/** @throws {ApiError} `cron_not_found`, `cron_schedule_invalid`, `node_unknown`, `webhook_refused` */
export async function patchCron(
  agent: AgentContext,
  { caller, scope }: Pick<CronCreator, "caller" | "scope">,
  cronId: string,
  patch: CronPatch,
): Promise<Cron> {
  const at = agent.clock.now();
  const cron = await agent.storage.transaction(async (tx) => {
    const before = await requireCron(tx, cronId, null);
    const after: Cron = {
      ...before,
      ...patch,
      metadata: mergedMetadata(agent, before.metadata, patch.metadata, scope),
      payload: { ...before.payload, ...patch.payload },
      caller: editedBy(before.caller, caller.name), // crons.3
      updatedAt: at,
    };
    await checkCall(agent, tx, buildRunCall(after.payload, after.metadata, after.reach));
    const moved = ["schedule", "timezone", "endTime", "enabled"].some((member) => member in patch);
    const due = moved ? nextTick(after, at) : before.nextAt; // crons.1
    const nextAt = after.enabled ? due : null;
    await tx.updateCron(cronId, { ...after, nextAt });
    await tx.audit([buildAct(caller, { action: "cron_updated", at, ...describeCron(after, Object.keys(patch)) })]);
    return { ...after, nextAt };
  });
  agent.wakeCrons();
  return cron;
}

function editedBy(creator: Caller, name: string): Caller {
  const { editors = [] } = creator;
  if (name === creator.name || editors.includes(name)) return creator;
  return { ...creator, editors: [...editors, name].slice(-EDITORS_MAX) };
}

/** @throws {ApiError} `cron_not_found` */
export async function deleteCron(agent: AgentContext, caller: Caller, cronId: string): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    const cron = await requireCron(tx, cronId, null);
    await tx.deleteCron(cronId);
    await tx.audit([buildAct(caller, { action: "cron_deleted", at: agent.clock.now(), ...describeCron(cron) })]);
  });
}

/** @param changed members that a patch names */
function describeCron(cron: Cron, changed?: readonly string[]): Pick<Act, "subject" | "fields"> {
  const { cronId, assistantId, threadId, schedule, timezone, enabled } = cron;
  const fields = { assistant_id: assistantId, thread_id: threadId, schedule, timezone, enabled };
  return { subject: cronId, fields: { ...fields, ...(changed === undefined ? {} : { changed }) } };
}

/** Finds the crons of a page at once, and reads each on demand. */
export async function searchCrons(
  agent: AgentContext,
  query: CronQuery,
): Promise<{ readonly total: number; readonly count: number; readonly crons: AsyncIterable<Cron> }> {
  const found = named(query);
  const { longReads } = agent.storage;
  const [ids, total] = [await longReads.searchCrons(found), await longReads.countCrons(found)];
  const read = async (tx: Tx, id: string): Promise<Cron | null> => {
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
  return { ...call, rights: { disable: GRANTED } }; // asked of whoever wrote the lists into the cron
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

async function checkCall(agent: AgentContext, tx: AssistantTx, call: RunCall): Promise<Assistant> {
  const assistant = await findAssistant(agent, tx, call.assistantId, { scope: call.reach.assistants });
  const intent = readIntent(call.input, call.command);
  checkControlValues(agent.graphs, intent);
  checkNodeNames(agent.graphs, assistant.graphId, call, intent);
  if (call.webhook !== null) agent.webhooks.check(call.webhook, true);
  if (call.notify !== null && call.notify !== false) agent.webhooks.check(call.notify.url, false);
  return assistant;
}
