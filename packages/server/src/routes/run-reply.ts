// Run reply: the common parts of replies about one run: its location, and the result of waiting for it.
import type { HttpRequest } from "@holdpoint/base/http/server/app.ts";
import { replyWhenReady } from "@holdpoint/base/http/server/long-poll.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import type { Ask } from "../auth/authorize.ts";
import type { AgentContext } from "../context/context.ts";
import { cancelRun } from "../runs/cancel-runs.ts";
import type { Caller, Run } from "../model/model.ts";
import type { Waiting } from "../runs/wait-for-run.ts";
import type { WaitResult } from "../context/services.ts";
import { serializeRun } from "../wire/api-objects.ts";
import { serializeRunEnd } from "../wire/run-end.ts";
import { requireInScope } from "./path-scope.ts";
import { select } from "./route.ts";

type RunIds = Pick<Run, "threadId" | "runId">;

/** Path of a run: on its thread, or by run id alone for a caller without a thread. */
export function buildRunPath({ threadId, runId }: RunIds, withThread: boolean): string {
  return withThread ? `/threads/${threadId}/runs/${runId}` : `/runs/${runId}`;
}

/** Clients take the run id from the first header, and reconnect to the second after a disconnect. */
export function locationHeaders(path: string, rejoin: "join" | "stream"): Readonly<Record<string, string>> {
  return { "Content-Location": path, Location: `${path}/${rejoin}` };
}

/** A call that cancels the run on disconnect requires its own authorization. @throws {ApiError} `forbidden` */
export async function requireMayCancel(
  agent: AgentContext,
  ids: Readonly<Record<string, string>>,
  ask: Ask,
): Promise<void> {
  const scope = await ask("threads:update", { ...ids, action: "interrupt", metadata: null });
  if (scope !== null) await requireInScope(agent, ids, scope);
}

export function cancelOnDisconnect(agent: AgentContext, caller: Caller, run: RunIds, request: HttpRequest): void {
  if (request.method === "HEAD") return; // HEAD disconnects by definition
  request.onDisconnect(() => {
    cancelRun(agent, { caller, action: "interrupt", reason: "disconnected" }, run).catch(() => undefined); // the run may be deleted by then
  });
}

export function replyToWaiter(
  agent: AgentContext,
  waiting: Waiting,
  path: string,
  { request, keepAliveMs }: { readonly request: HttpRequest; readonly keepAliveMs: number },
): Promise<HttpReply> {
  request.onDisconnect(waiting.leave);
  const headers = { ...locationHeaders(path, "join"), "Content-Type": "application/json" };
  const reply = waiting.result.then((result) => toReply(result, headers));
  return replyWhenReady(reply, headers, agent.clock, keepAliveMs);
}

function toReply(result: WaitResult, headers: Readonly<Record<string, string>>): HttpReply {
  if (result.kind === "ended") return { status: 200, body: serializeRunEnd(result.end), headers };
  const again = `join it at ${headers["Location"]}`;
  const errors = {
    deleted: { error: "Deleted", message: "the thread was deleted" },
    requeued: { error: "ServerShutdown", message: `the run continues after the restart: ${again}` },
    not_stored: { error: "StorageError", message: `the writes of the run cannot be stored at present: ${again}` },
  } as const;
  return { status: 200, body: JSON.stringify({ __error__: errors[result.why] }), headers };
}

/**
 * A run as clients see it. Its input is text already: it is not parsed, however long it is.
 * @param members that were asked for; all when none were
 */
export function runText({ graphs }: AgentContext, run: Run, members?: readonly string[] | null): string {
  const { kwargs, ...rest } = serializeRun(run, null) as { readonly kwargs: { readonly input: null } };
  const text = JSON.stringify(select(rest, members));
  if (members?.includes("kwargs") === false) return text;
  const { input: _null, ...others } = kwargs;
  const input = run.input === null ? "null" : graphs.storedClientText(run.input);
  return `${text.slice(0, -1)}${text === "{}" ? "" : ","}"kwargs":{"input":${input},${JSON.stringify(others).slice(1)}}`;
}
