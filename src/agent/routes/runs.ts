// Routes of runs: parse → operation → reply.
import * as contract from "../../api/runs.ts";
import { ApiError } from "../../base/errors.ts";
import { contentHash } from "../../base/ids.ts";
import type { HttpReply, HttpRequest } from "../../http/app.ts";
import { replyWhenReady } from "../../http/wait.ts";
import { reachOf, requireInScope, type Ask } from "../access.ts";
import type { Agent } from "../agent.ts";
import { VALUES_ONLY, type Run, type StreamRequest } from "../model.ts";
import type { WaitResult } from "../run-ends.ts";
import { cancelRun, deleteRun, getRun, listRuns, waitForRun, type Waiting } from "../runs.ts";
import type { RunCall } from "../run-request.ts";
import { startRun } from "../start-run.ts";
import { runEndToText, runToWire } from "../wire.ts";
import { id, json, NO_CONTENT, route, type AgentRoute, type Call } from "./route.ts";

export function runRoutes(agent: Agent, keepAliveMs: number): readonly AgentRoute[] {
  const runObject = (run: Run) => runToWire(run, run.input === null ? null : agent.graphs.toWire(run.input));
  return [
    route(contract.createRun, async (call) => {
      const threadId = id(call.ids, "thread_id");
      const { run } = await startRun(agent, call.caller, threadId, await runCall(agent, call));
      return json(runObject(run), locationHeaders(run, "join"));
    }),
    route(contract.waitRun, async (call) => {
      const threadId = id(call.ids, "thread_id");
      const { run, created } = await startRun(agent, call.caller, threadId, await runCall(agent, call));
      // A run that has just begun cannot have ended: that needs a commit, which comes in a later turn of the event loop.
      // One that was only queued can: a call in the same commit may have cancelled it.
      const begun = created && run.status === "running";
      const waiting = begun ? agent.worker.ends.wait(run.runId) : await waitForRun(agent, threadId, run.runId);
      return replyToWaiter(agent, waiting, run.threadId, run.runId, call.request, keepAliveMs);
    }),
    route(contract.listRuns, async ({ ids, query }) => {
      const filter = { limit: query.limit, offset: query.offset, status: query.status ?? null };
      return json((await listRuns(agent, id(ids, "thread_id"), filter)).map(runObject));
    }),
    route(contract.getRun, async ({ ids }) =>
      json(runObject(await getRun(agent, id(ids, "thread_id"), id(ids, "run_id")))),
    ),
    route(contract.joinRun, async ({ ids, query, request, caller, ask }) => {
      const [threadId, runId] = [id(ids, "thread_id"), id(ids, "run_id")];
      if (query.cancel_on_disconnect) await requireMayCancel(agent, ids, ask);
      const waiting = await waitForRun(agent, threadId, runId);
      if (query.cancel_on_disconnect) {
        request.onHangUp(() => {
          cancelRun(agent, caller, threadId, runId, "interrupt").catch(() => undefined); // it may be gone by then
        });
      }
      return replyToWaiter(agent, waiting, threadId, runId, request, keepAliveMs);
    }),
    route(contract.cancelRun, async ({ ids, query, request, caller }) => {
      const [threadId, runId] = [id(ids, "thread_id"), id(ids, "run_id")];
      const waiting = query.wait ? await waitForRun(agent, threadId, runId) : null;
      if (waiting !== null) request.onHangUp(waiting.leave);
      const ended = await cancelRun(agent, caller, threadId, runId, query.action);
      if (ended) waiting?.leave();
      else await waiting?.result;
      return ended || waiting !== null ? NO_CONTENT : { status: 202, body: null };
    }),
    route(contract.deleteRun, async ({ ids }) => {
      await deleteRun(agent, id(ids, "thread_id"), id(ids, "run_id"));
      return NO_CONTENT;
    }),
  ];
}

export function locationHeaders(
  run: { readonly threadId: string; readonly runId: string },
  rejoin: string,
): Record<string, string> {
  const path = `/threads/${run.threadId}/runs/${run.runId}`;
  return { "Content-Location": path, Location: `${path}/${rejoin}` };
}

function replyToWaiter(
  agent: Agent,
  waiting: Waiting,
  threadId: string,
  runId: string,
  request: HttpRequest,
  keepAliveMs: number,
): Promise<HttpReply> {
  request.onHangUp(waiting.leave);
  const headers = { ...locationHeaders({ threadId, runId }, "join"), "Content-Type": "application/json" };
  const reply = waiting.result.then((result) => replyOf(result, headers));
  return replyWhenReady(reply, headers, agent.clock, keepAliveMs);
}

function replyOf(result: WaitResult, headers: Readonly<Record<string, string>>): HttpReply {
  if (result.kind === "ended") return { status: 200, body: runEndToText(result.end), headers };
  const again = `join it at ${headers["Location"]}`;
  const errors = {
    deleted: { error: "Deleted", message: "the thread was deleted" },
    handed_back: { error: "ServerShutdown", message: `the run goes on after the restart: ${again}` },
    not_stored: { error: "StorageError", message: `what the run wrote cannot be stored at present: ${again}` },
  } as const;
  return { status: 200, body: JSON.stringify({ __error__: errors[result.why] }), headers };
}

const IDEMPOTENCY_KEY_UNITS_MAX = 255;

/** A call that ends the run when its caller hangs up does more than read. */
async function requireMayCancel(agent: Agent, ids: Readonly<Record<string, string>>, ask: Ask): Promise<void> {
  const scope = await ask("threads:update", { ...ids, action: "interrupt", metadata: null });
  if (scope !== null) await requireInScope(agent, ids, scope);
}

export async function runCall(agent: Agent, call: Call<unknown, contract.RunBody>): Promise<RunCall> {
  const { body, request, scope, ask } = call;
  const key = request.headers["idempotency-key"];
  if (key !== undefined && (typeof key !== "string" || key === "" || key.length > IDEMPOTENCY_KEY_UNITS_MAX)) {
    const detail = `Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_UNITS_MAX} characters.`;
    throw new ApiError("invalid_request", detail, { errors: [{ path: "Idempotency-Key", message: detail }] });
  }
  const exit = body.checkpoint_during === false ? "exit" : "async";
  return {
    assistantId: body.assistant_id,
    input: body.input,
    command: body.command ?? null,
    config: body.config ?? {},
    context: body.context ?? null,
    metadata: body.metadata ?? {},
    interruptBefore: body.interrupt_before ?? null,
    interruptAfter: body.interrupt_after ?? null,
    multitaskStrategy: body.multitask_strategy ?? "enqueue",
    ifNotExists: body.if_not_exists ?? "reject",
    durability: body.durability ?? exit,
    stream: streamRequest(body),
    checkpointId: body.checkpoint?.checkpoint_id ?? body.checkpoint_id ?? null,
    idempotencyKey: key ?? null,
    requestHash: key === undefined ? "" : contentHash(`${request.path}\n${request.body.text}`),
    reach: await reachOf(agent, scope, body.assistant_id, ask),
  };
}

function streamRequest(body: contract.RunBody): StreamRequest {
  const { stream_mode: given = null } = body;
  const list = given === null ? [] : Array.isArray(given) ? given : [given];
  return {
    modes: list.length === 0 ? VALUES_ONLY.modes : [...new Set(list)],
    subgraphs: body.stream_subgraphs ?? false,
    resumable: body.stream_resumable ?? false,
  };
}
