// Route: an operation of the contract and the function that answers it. Parses what comes in; the function only acts.
import { parse, parsePathIds, takesBody, type AnyOperation, type Operation } from "../../api/operation.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../../http/app.ts";
import { ANONYMOUS, requireInScope } from "../access.ts";
import type { Agent } from "../agent.ts";
import type { Caller, Scope } from "../model.ts";
import type { Access } from "../ports.ts";

export interface Call<Query, Body> {
  readonly ids: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly request: HttpRequest;
  readonly caller: Caller;
  /** Objects named by the path are within it. Operations on lists, and on ids in the body, look at it themselves. */
  readonly scope: Scope;
}

export interface AgentRoute {
  readonly operation: AnyOperation;
  readonly bind: (agent: Agent) => HttpRoute;
}

export function route<Query, Body>(
  operation: Operation<Query, Body>,
  act: (call: Call<Query, Body>) => Promise<HttpReply>,
): AgentRoute {
  const { method, path } = operation;
  const checked = async (agent: Agent, access: Access, request: HttpRequest): Promise<HttpReply> => {
    const caller = operation.access === "public" ? ANONYMOUS : await access.authenticate(request);
    const call = parts(operation, request);
    const { access: event } = operation;
    if (event === "public" || event === "authenticated") return act({ ...call, request, caller, scope: null });
    const given: JsonObject = isJsonObject(call.body) ? call.body : {};
    const query = call.query as JsonObject;
    const { scope, value } = await access.authorize(caller, { event, value: { ...query, ...given, ...call.ids } });
    if (scope !== null) await requireInScope(agent, call.ids, scope);
    const body = isJsonObject(call.body) ? ({ ...given, ...pickKnown(value, call.ids, query) } as Body) : call.body;
    return act({ ...call, body, request, caller, scope });
  };
  return {
    operation: operation,
    bind: (agent) => ({
      method,
      path,
      takesBody: takesBody(operation),
      handle: async (request) =>
        agent.access === null
          ? act({ ...parts(operation, request), request, caller: ANONYMOUS, scope: null })
          : checked(agent, agent.access, request),
    }),
  };
}

function parts<Query, Body>(operation: Operation<Query, Body>, request: HttpRequest) {
  return {
    ids: parsePathIds(request.params),
    query: parse(operation.query, request.query, "query"),
    // A missing body counts as an empty object, as clients without anything to say send none.
    body: parse(operation.body, request.body.value ?? {}, "body"),
  };
}

/** What a handler made of the body: path and query stay as the caller sent them. */
function pickKnown(value: JsonObject, ids: Readonly<Record<string, string>>, query: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !(name in ids) && !(name in query)));
}

export function json(value: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status: 200, body: JSON.stringify(value), headers };
}

export const NO_CONTENT: HttpReply = { status: 204, body: null };

export function paginationHeaders(total: number, offset: number, count: number): Readonly<Record<string, string>> {
  const next = offset + count;
  return {
    "X-Pagination-Total": String(total),
    ...(next < total ? { "X-Pagination-Next": String(next) } : {}),
  };
}

/** Keeps the members that were asked for; all when none were. */
export function select(value: object, members: readonly string[] | null | undefined): object {
  if (members === null || members === undefined) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => members.includes(name)));
}

/** The path parameter, which the router has matched. */
export function id(ids: Readonly<Record<string, string>>, name: string): string {
  const value = ids[name];
  if (value === undefined) throw new Error(`the path has no ${name}`);
  return value;
}
