// Routes of crons: parse → operation → reply.
import * as contract from "@holdpoint/api/crons.ts";
import { parse } from "@holdpoint/api/operation.ts";
import { runBody } from "@holdpoint/api/runs.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { toAccessValue } from "../auth/handler-value.ts";
import type { Reach } from "../auth/authorize.ts";
import type { AgentContext } from "../context/context.ts";
import { askForRights } from "../threads/bypass.ts";
import {
  type CronPatch,
  type NewCron,
  countCrons,
  createCron,
  deleteCron,
  onlyDisables,
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
      const reach = await reachOfRuns(agent, call, selectPayload(call.body), null);
      return json(serializeCron(await createCron(agent, { ...call, reach }, newCron(call.body, null))));
    }),
    route(contract.createThreadCron, async (call) => {
      const threadId = id(call.ids, "thread_id");
      const reach = await reachOfRuns(agent, call, selectPayload(call.body), threadId);
      const given = newCron(call.body, threadId);
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
    route(contract.patchCron, async (call) => json(serializeCron(await changeCron(agent, call)))),
    route(contract.deleteCron, async ({ ids, caller }) => {
      await deleteCron(agent, caller, id(ids, "cron_id"));
      return NO_CONTENT;
    }),
  ];
}

/** A change of the cron's payload meanwhile has rights of its own: they are asked anew. */
async function changeCron(agent: AgentContext, call: Call<unknown, contract.CronPatchBody>): Promise<Cron> {
  const { ids, body, scope, caller } = call;
  const cronId = id(ids, "cron_id");
  const patch = toPatch(body);
  for (;;) {
    const { payload: before, threadId } = await agent.storage.transaction((tx) => requireCron(tx, cronId, scope));
    const after = { ...before, ...patch.payload };
    const takeover = onlyDisables(patch) ? null : { before, reach: await reachOfRuns(agent, call, after, threadId) };
    const changed = await patchCron(agent, { caller, scope, takeover }, cronId, patch);
    if (changed !== null) return changed;
  }
}

/**
 * The right to create or change crons does not include the right to start runs, so both are authorized.
 * @param payload members of the run request @throws {ApiError} `forbidden`
 */
async function reachOfRuns(
  agent: AgentContext,
  { ask }: Pick<Call<unknown, unknown>, "ask">,
  payload: JsonObject,
  threadId: string | null,
): Promise<Reach> {
  const {
    assistant_id: assistantId,
    interrupt_before: before,
    interrupt_after: after,
  } = parse(runBody, payload, "body");
  const asked = { assistantId, threadId, before, after, goto: undefined, continues: false, changes: false };
  const { disable } = await askForRights(agent, ask, asked);
  if (disable !== undefined && "refusal" in disable) throw disable.refusal;
  const ids = threadId === null ? {} : { thread_id: threadId };
  const value = toAccessValue("threads:create_run", { ids, query: {}, body: payload });
  return buildReach(agent, await ask("threads:create_run", value), assistantId, ask);
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
  const payload = selectPayload(body);
  return {
    ...(body.schedule === undefined ? {} : { schedule: body.schedule }),
    ...(body.timezone === undefined ? {} : { timezone: body.timezone }),
    ...(body.end_time === undefined ? {} : { endTime: body.end_time }),
    ...(body.enabled === undefined || body.enabled === null ? {} : { enabled: body.enabled }),
    ...(body.on_run_completed === undefined || body.on_run_completed === null
      ? {}
      : { onRunCompleted: body.on_run_completed }),
    ...(body.metadata === undefined || body.metadata === null ? {} : { metadata: body.metadata }),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
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
