// Routes of crons: parse → operation → reply.
import * as contract from "@holdpoint/api/crons.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { toAccessValue } from "../auth/handler-value.ts";
import type { Ask, Reach } from "../auth/authorize.ts";
import type { AgentContext } from "../context/context.ts";
import { askForRights, type AskedRun } from "../threads/bypass.ts";
import {
  type CronPatch,
  type NewCron,
  countCrons,
  createCron,
  deleteCron,
  patchCron,
  requireCron,
  searchCrons,
} from "../runs/crons/crons.ts";
import type { Cron, Scope } from "../model/model.ts";
import { serializeCron } from "../wire/api-objects.ts";
import { buildReach } from "./path-scope.ts";
import { listReply, streamTexts } from "./list-reply.ts";
import { type AgentRoute, type Call, NO_CONTENT, id, json, paginationHeaders, route, select } from "./route.ts";

export function cronRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.createCron, async (call) => {
      const reach = await reachOfRuns(agent, call);
      return json(serializeCron(await createCron(agent, { ...call, reach }, newCron(call.body, null))));
    }),
    route(contract.createThreadCron, async (call) => {
      const reach = await reachOfRuns(agent, call);
      const given = newCron(call.body, id(call.ids, "thread_id"));
      return json(serializeCron(await createCron(agent, { ...call, reach }, given)));
    }),
    route(contract.searchCrons, async ({ body, scope }) => {
      const { total, count, crons } = await searchCrons(agent, {
        ...buildFilter(body, scope),
        limit: body.limit,
        offset: body.offset,
        sortBy: body.sort_by,
        descending: body.sort_order === "desc",
      });
      const object = (cron: Cron): object => select(serializeCron(cron), body.select);
      return listReply(streamTexts(crons, object), paginationHeaders(total, body.offset, count));
    }),
    route(contract.countCrons, async ({ body, scope }) => json(await countCrons(agent, buildFilter(body, scope)))),
    route(contract.getCron, async ({ ids, scope }) => {
      const cronId = id(ids, "cron_id");
      return json(serializeCron(await agent.storage.transaction((tx) => requireCron(tx, cronId, scope))));
    }),
    route(contract.patchCron, async ({ ids, body, scope, ask, caller }) => {
      const cronId = id(ids, "cron_id");
      const { assistantId, threadId } = await agent.storage.transaction((tx) => requireCron(tx, cronId, scope));
      const given = { before: body.interrupt_before, after: body.interrupt_after };
      await requireMayDisable(agent, ask, { assistantId, threadId, ...given });
      return json(serializeCron(await patchCron(agent, { caller, scope }, cronId, toPatch(body))));
    }),
    route(contract.deleteCron, async ({ ids, caller }) => {
      await deleteCron(agent, caller, id(ids, "cron_id"));
      return NO_CONTENT;
    }),
  ];
}

/** The right to create crons does not include the right to start runs, so both are authorized. */
async function reachOfRuns(agent: AgentContext, { ids, body, ask }: Call<unknown, contract.CronBody>): Promise<Reach> {
  const given = { before: body.interrupt_before, after: body.interrupt_after };
  await requireMayDisable(agent, ask, { assistantId: body.assistant_id, threadId: ids["thread_id"] ?? null, ...given });
  const value = toAccessValue("threads:create_run", { ids, query: {}, body: selectPayload(body) });
  return buildReach(agent, await ask("threads:create_run", value), body.assistant_id, ask);
}

/** @throws {ApiError} `forbidden` */
async function requireMayDisable(
  agent: AgentContext,
  ask: Ask,
  cron: Pick<AskedRun, "assistantId" | "threadId" | "before" | "after">,
): Promise<void> {
  const { disable } = await askForRights(agent, ask, { ...cron, goto: undefined, continues: false });
  if (disable !== undefined && "refusal" in disable) throw disable.refusal;
}

function newCron(body: contract.CronBody, threadId: string | null): NewCron {
  return {
    threadId,
    schedule: body.schedule,
    timezone: body.timezone ?? null,
    endTime: body.end_time ?? null,
    enabled: body.enabled ?? true,
    onRunCompleted: body.on_run_completed ?? "delete",
    metadata: body.metadata ?? {},
    payload: selectPayload(body),
  };
}

function toPatch(body: contract.CronPatchBody): CronPatch {
  return {
    ...(body.schedule === undefined ? {} : { schedule: body.schedule }),
    ...(body.timezone === undefined ? {} : { timezone: body.timezone }),
    ...(body.end_time === undefined ? {} : { endTime: body.end_time }),
    ...(body.enabled === undefined || body.enabled === null ? {} : { enabled: body.enabled }),
    ...(body.on_run_completed === undefined || body.on_run_completed === null
      ? {}
      : { onRunCompleted: body.on_run_completed }),
    ...(body.metadata === undefined || body.metadata === null ? {} : { metadata: body.metadata }),
    payload: selectPayload(body),
  };
}

/** The members of a run request. */
function selectPayload(body: contract.CronPatchBody): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => contract.RUN_MEMBERS.includes(name) && value !== undefined),
  ) as JsonObject;
}

function buildFilter(body: contract.CronFilterBody, scope: Scope) {
  return {
    scope,
    metadata: body.metadata ?? null,
    assistantId: body.assistant_id ?? null,
    threadId: body.thread_id ?? null,
    enabled: body.enabled ?? null,
  };
}
