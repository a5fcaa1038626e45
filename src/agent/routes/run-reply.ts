// Run reply: what the replies to calls about one run have in common: where it can be found, and what waiting for it gives.
import type { HttpRequest } from "../../http/server/app.ts";
import { replyWhenReady } from "../../http/server/long-poll.ts";
import type { HttpReply } from "../../http/server/reply.ts";
import type { Ask } from "../auth/authorize.ts";
import type { AgentContext } from "../context.ts";
import { cancelRun } from "../runs/cancel-runs.ts";
import type { Caller, Run } from "../model/model.ts";
import type { Waiting } from "../runs/wait-for-run.ts";
import type { WaitResult } from "../services.ts";
import { runEndToText, runToWire } from "../serializers/api-objects.ts";
import { requireInScope } from "./path-scope.ts";
import { select } from "./route.ts";

type RunIds = Pick<Run, "threadId" | "runId">;

/** How a run is addressed: on its thread, or by its id alone when its caller knows of no thread. */
export function pathOf({ threadId, runId }: RunIds, withThread: boolean): string {
  return withThread ? `/threads/${threadId}/runs/${runId}` : `/runs/${runId}`;
}

/** Clients take the run's id from the first, and come again to the second when they are cut off. */
export function locationHeaders(path: string, rejoin: "join" | "stream"): Readonly<Record<string, string>> {
  return { "Content-Location": path, Location: `${path}/${rejoin}` };
}

/** A call that ends the run when its caller hangs up does more than read. @throws {ApiError} `forbidden` */
export async function requireMayCancel(
  agent: AgentContext,
  ids: Readonly<Record<string, string>>,
  ask: Ask,
): Promise<void> {
  const scope = await ask("threads:update", { ...ids, action: "interrupt", metadata: null });
  if (scope !== null) await requireInScope(agent, ids, scope);
}

export function cancelOnHangUp(agent: AgentContext, caller: Caller, run: RunIds, request: HttpRequest): void {
  if (request.method === "HEAD") return; // asks about the stream, and leaves by its nature
  request.onHangUp(() => {
    cancelRun(agent, caller, run.threadId, run.runId, "interrupt").catch(() => undefined); // it may be gone by then
  });
}

export function replyToWaiter(
  agent: AgentContext,
  waiting: Waiting,
  path: string,
  request: HttpRequest,
  keepAliveMs: number,
): Promise<HttpReply> {
  request.onHangUp(waiting.leave);
  const headers = { ...locationHeaders(path, "join"), "Content-Type": "application/json" };
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

/**
 * A run as clients see it. Its input is text already: it is not parsed, however long it is.
 * @param members that were asked for; all when none were
 */
export function runText({ graphs }: AgentContext, run: Run, members?: readonly string[] | null): string {
  const { kwargs, ...rest } = runToWire(run, null) as { readonly kwargs: { readonly input: null } };
  const text = JSON.stringify(select(rest, members));
  if (members?.includes("kwargs") === false) return text;
  const { input: _null, ...others } = kwargs;
  const input = run.input === null ? "null" : graphs.storedWireText(run.input);
  return `${text.slice(0, -1)}${text === "{}" ? "" : ","}"kwargs":{"input":${input},${JSON.stringify(others).slice(1)}}`;
}
