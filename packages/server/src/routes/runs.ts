// Routes of runs on a thread: parse → operation → reply.
import * as contract from "@holdpoint/api/runs.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { AgentContext } from "../context/context.ts";
import type { RunWebhook } from "../model/model.ts";
import { addRunWebhook, deleteRunWebhook, listRunWebhooks } from "../runs/run-webhooks.ts";
import { type Cancellation, cancelRun } from "../runs/cancel-runs.ts";
import { listReply } from "./list-reply.ts";
import { deleteRun, getRun, listRuns } from "../runs/runs.ts";
import { waitForRun, waitForStarted } from "../runs/wait-for-run.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { type AgentRoute, NO_CONTENT, id, json, jsonText, route } from "./route.ts";
import { runCall } from "./run-call.ts";
import {
  cancelOnDisconnect,
  locationHeaders,
  buildRunPath,
  replyToWaiter,
  requireMayCancel,
  runText,
} from "./run-reply.ts";

export function runRoutes(agent: AgentContext, keepAliveMs: number): readonly AgentRoute[] {
  const readRunKey = (ids: Readonly<Record<string, string>>) => ({
    threadId: id(ids, "thread_id"),
    runId: id(ids, "run_id"),
  });
  return [
    route(contract.createRun, async (call) => {
      const start = { threadId: id(call.ids, "thread_id"), call: await runCall(agent, call, call.body) };
      const { run } = await startRun(agent, call.caller, start);
      return jsonText(runText(agent, run), locationHeaders(buildRunPath(run, true), "join"));
    }),
    route(contract.waitRun, async (call) => {
      const start = { threadId: id(call.ids, "thread_id"), call: await runCall(agent, call, call.body) };
      const started = await startRun(agent, call.caller, start);
      if (call.body.on_disconnect === "cancel") cancelOnDisconnect(agent, call.caller, started.run, call.request);
      const waiting = await waitForStarted(agent, started);
      return replyToWaiter(agent, waiting, buildRunPath(started.run, true), { request: call.request, keepAliveMs });
    }),
    route(contract.listRuns, async ({ ids, query }) => {
      const filter = { limit: query.limit, offset: query.offset, status: query.status ?? null };
      const runs = listRuns(agent, id(ids, "thread_id"), filter);
      async function* rows(): AsyncGenerator<string> {
        for await (const run of runs) yield runText(agent, run, query.select);
      }
      return listReply(rows());
    }),
    route(contract.getRun, async ({ ids }) =>
      jsonText(runText(agent, await getRun(agent, id(ids, "thread_id"), id(ids, "run_id")))),
    ),
    route(contract.joinRun, async ({ ids, query, request, caller, ask }) => {
      const run = { threadId: id(ids, "thread_id"), runId: id(ids, "run_id") };
      if (query.cancel_on_disconnect) await requireMayCancel(agent, ids, ask);
      const waiting = await waitForRun(agent, run.threadId, run.runId);
      if (query.cancel_on_disconnect) cancelOnDisconnect(agent, caller, run, request);
      return replyToWaiter(agent, waiting, buildRunPath(run, true), { request, keepAliveMs });
    }),
    route(contract.cancelRun, async ({ ids, query, body, request, caller }) => {
      const [threadId, runId] = [id(ids, "thread_id"), id(ids, "run_id")];
      const { action, reason } = chooseCancellation(query, body);
      const waiting = query.wait || body.wait === true ? await waitForRun(agent, threadId, runId) : null;
      if (waiting !== null) request.onDisconnect(waiting.leave);
      const ended = await cancelRun(agent, { caller, action, reason }, { threadId, runId });
      if (ended) waiting?.leave();
      else await waiting?.result;
      return ended || waiting !== null ? NO_CONTENT : { status: 202, body: null };
    }),
    route(contract.deleteRun, async ({ ids, caller }) => {
      await deleteRun(agent, caller, id(ids, "thread_id"), id(ids, "run_id"));
      return NO_CONTENT;
    }),
    route(contract.addRunWebhook, async ({ ids, body }) => {
      const { webhook_id: webhookId = null, url, format, headers } = body;
      return json(webhookObject(await addRunWebhook(agent, readRunKey(ids), { webhookId, url, format, headers })));
    }),
    route(contract.listRunWebhooks, async ({ ids }) =>
      json((await listRunWebhooks(agent, readRunKey(ids))).map(webhookObject)),
    ),
    route(contract.deleteRunWebhook, async ({ ids }) => {
      await deleteRunWebhook(agent, readRunKey(ids), id(ids, "webhook_id"));
      return NO_CONTENT;
    }),
  ];
}

/** The SDKs send options in the query, other callers in the body. What the query says goes first. */
function chooseCancellation(query: CancelOptions, body: CancelOptions): Pick<Cancellation, "action" | "reason"> {
  const action = query.action ?? body.action ?? "interrupt";
  const reason = query.reason ?? body.reason ?? null;
  if (reason !== null && action !== "interrupt") {
    const message = "requires action=interrupt";
    throw new ApiError("invalid_request", `field reason: ${message}`, { errors: [{ path: "reason", message }] });
  }
  return { action, reason: reason ?? "requested" };
}

interface CancelOptions {
  readonly action?: Cancellation["action"] | null | undefined;
  readonly reason?: "taken" | null | undefined;
}

/** Without headers: they hold credentials. */
function webhookObject({ webhookId, runId, threadId, url, format, createdAt }: RunWebhook): contract.RunWebhookObject {
  return {
    webhook_id: webhookId,
    run_id: runId,
    thread_id: threadId,
    url,
    format,
    created_at: isoTime(createdAt),
  };
}
