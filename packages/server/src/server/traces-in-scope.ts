// Traces in scope: the traces of callers who are limited to some threads. A trace belongs to the thread that it names.
// Invariants:
//   - A limited caller sees a trace only if its thread exists and is in the caller's scope. A trace without a thread,
//     and the projects of all traces, are for callers who may see every thread.
//   - A trace out of scope is the same as a missing one.
import type { TraceItem, TracePage } from "@holdpoint/api/traces/traces.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import type { Scope } from "../model/model.ts";
import { json } from "../routes/route.ts";

type Limits = NonNullable<Scope>;

/** The threads among these that exist and are in scope. */
export type ThreadsInScope = (ids: readonly string[], scope: Limits) => Promise<ReadonlySet<string>>;

/** Calls of the store for one page of a limited caller: most traces may belong to others. */
const CALLS_MAX = 50;
const LIMIT = 50;

export interface ScopedTraces {
  readonly routes: readonly HttpRoute[];
  readonly threads: ThreadsInScope;
}

/** @throws {ApiError} `trace_not_found` */
export async function replyInScope(
  traces: ScopedTraces,
  { path, handle }: HttpRoute,
  request: HttpRequest,
  scope: Limits,
): Promise<HttpReply> {
  if (path === "/traces") return listInScope(traces, handle, request, scope);
  if (path === "/traces/projects") return json([]);
  const traceId = request.params["trace_id"] ?? (await traceOfRun(traces, request));
  const tree = await callRoute(traces, "/traces/{trace_id}", request, { trace_id: traceId });
  const thread = isJsonObject(tree["trace"]) ? tree["trace"]["thread_id"] : null;
  const isVisible = typeof thread === "string" && (await traces.threads([thread], scope)).has(thread);
  if (!isVisible) throw new ApiError("trace_not_found", "The trace is not in the trace store.");
  return handle(request);
}

async function listInScope(
  { threads }: ScopedTraces,
  handle: HttpRoute["handle"],
  request: HttpRequest,
  scope: Limits,
): Promise<HttpReply> {
  const items: TraceItem[] = [];
  const limit = Number(request.query["limit"] ?? LIMIT);
  let cursor = request.query["cursor"] ?? null;
  for (let calls = 0; calls < CALLS_MAX; calls++) {
    const left = Number.isInteger(limit) ? { limit: String(limit - items.length) } : {};
    const query = { ...request.query, ...left, ...(cursor === null ? {} : { cursor }) };
    const page = parseBody(await handle({ ...request, query })) as unknown as TracePage;
    const ids = page.items.flatMap(({ thread_id: id }) => (id === null ? [] : [id]));
    const visible = await threads([...new Set(ids)], scope);
    items.push(...page.items.filter(({ thread_id: id }) => id !== null && visible.has(id)));
    cursor = page.next_cursor;
    if (cursor === null || items.length >= limit) break;
  }
  return json({ items, next_cursor: cursor });
}

async function traceOfRun(traces: ScopedTraces, request: HttpRequest): Promise<string> {
  const run = await callRoute(traces, "/traces/runs/{run_id}", request, { run_id: request.params["run_id"] ?? "" });
  return typeof run["trace_id"] === "string" ? run["trace_id"] : "";
}

async function callRoute({ routes }: ScopedTraces, path: string, request: HttpRequest, params: HttpRequest["params"]) {
  const route = routes.find((one) => one.path === path);
  if (route === undefined) throw new ApiError("trace_not_found", "The trace is not in the trace store.");
  return parseBody(await route.handle({ ...request, params, query: {} }));
}

function parseBody({ body }: HttpReply) {
  const value: unknown = typeof body === "string" ? JSON.parse(body) : null;
  return isJsonObject(value) ? value : {};
}
