// Routes of runs without a thread, and of runs of any thread: parse → operation → reply.
import * as contract from "@holdpoint/api/stateless.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import { type CancelSelection, cancelRuns } from "../runs/cancel-runs.ts";
import { getRun } from "../runs/runs.ts";
import { waitForRun, waitForStarted } from "../runs/wait-for-run.ts";
import type { RunStart } from "../runs/accept/run-start.ts";
import { startRun, startRuns } from "../runs/accept/start-run.ts";
import { statelessStart, threadOfRun } from "../runs/accept/stateless-runs.ts";
import { type AgentRoute, type Call, NO_CONTENT, id, jsonText, route } from "./route.ts";
import { runCall } from "./run-call.ts";
import {
  cancelOnDisconnect,
  locationHeaders,
  buildRunPath,
  replyToWaiter,
  requireMayCancel,
  runText,
} from "./run-reply.ts";

export function statelessRoutes(agent: AgentContext, keepAliveMs: number): readonly AgentRoute[] {
  return [
    route(contract.createStatelessRun, async (call) => {
      const { run } = await startRun(agent, call.caller, await buildStart(agent, call, call.body));
      return jsonText(runText(agent, run), locationHeaders(buildRunPath(run, false), "join"));
    }),
    route(contract.waitStatelessRun, async (call) => {
      const started = await startRun(agent, call.caller, await buildStart(agent, call, call.body));
      if (call.body.on_disconnect === "cancel") cancelOnDisconnect(agent, call.caller, started.run, call.request);
      const waiting = await waitForStarted(agent, started);
      return replyToWaiter(agent, waiting, buildRunPath(started.run, false), { request: call.request, keepAliveMs });
    }),
    route(contract.createRunBatch, async (call) => {
      const starts = await Promise.all(call.body.map((body, index) => buildStart(agent, call, body, index)));
      const started = await startRuns(agent, call.caller, starts);
      return jsonText(`[${started.map(({ run }) => runText(agent, run)).join(",")}]`);
    }),
    route(contract.cancelRuns, async ({ body, query, caller, scope }) => {
      const action = query.action ?? body.action ?? "interrupt";
      await cancelRuns(agent, { caller, scope, action, reason: "requested" }, toSelection(body));
      return NO_CONTENT;
    }),
    route(contract.getRunById, async ({ ids, scope }) => {
      const runId = id(ids, "run_id");
      return jsonText(runText(agent, await getRun(agent, await threadOfRun(agent, scope, runId), runId)));
    }),
    route(contract.joinRunById, async ({ ids, query, request, caller, scope, ask }) => {
      const runId = id(ids, "run_id");
      const run = { runId, threadId: await threadOfRun(agent, scope, runId) };
      if (query.cancel_on_disconnect) await requireMayCancel(agent, { thread_id: run.threadId, run_id: runId }, ask);
      const waiting = await waitForRun(agent, run.threadId, runId);
      if (query.cancel_on_disconnect) cancelOnDisconnect(agent, caller, run, request);
      return replyToWaiter(agent, waiting, buildRunPath(run, false), { request, keepAliveMs });
    }),
  ];
}

/** The API's value, and that of the official client's types. */
const KEEPS: ReadonlySet<string> = new Set(["keep", "continue"]);

/** @param part position of the run in a batch */
export async function buildStart(
  agent: AgentContext,
  call: Call<unknown, unknown>,
  body: contract.StatelessRunBody,
  part?: number,
): Promise<RunStart> {
  return statelessStart(agent.newId, {
    call: await runCall(agent, call, body, part === undefined ? {} : { part }),
    onCompletion: KEEPS.has(body.on_completion ?? "") ? "keep" : "delete",
    threadId: body.thread_id ?? null,
  });
}

function toSelection(body: {
  readonly thread_id?: string | null | undefined;
  readonly run_ids?: readonly string[] | null | undefined;
  readonly status?: "pending" | "running" | "all" | null | undefined;
}): CancelSelection {
  const { thread_id: threadId, run_ids: runIds, status } = body;
  const named = runIds !== null && runIds !== undefined;
  const refuse = (path: string, message: string): ApiError =>
    new ApiError("invalid_request", `body field ${path}: ${message}`, { errors: [{ path, message }] });
  if (named && status !== null && status !== undefined) throw refuse("status", "cannot be combined with run_ids");
  if (named && (threadId === null || threadId === undefined)) throw refuse("thread_id", "is required with run_ids");
  if (named) return { threadId: threadId ?? "", runIds };
  if (status === null || status === undefined) throw refuse("status", "is required without run_ids");
  return { threadId: threadId ?? null, status };
}
