// Route: an operation of the contract and the function that answers it. Parses what comes in; the function only acts.
import { parse, parsePathIds, takesBody, type AnyOperation, type Operation } from "../../api/operation.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../../http/app.ts";
import type { Caller } from "../agent.ts";

export interface Call<Query, Body> {
  readonly ids: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly request: HttpRequest;
  readonly caller: Caller;
}

export interface AgentRoute {
  readonly operation: AnyOperation;
  readonly route: HttpRoute;
}

/** Nobody has to authenticate yet; the record of answers says so. */
const ANONYMOUS: Caller = { name: "anonymous" };

export function route<Query, Body>(
  operation: Operation<Query, Body>,
  act: (call: Call<Query, Body>) => Promise<HttpReply>,
): AgentRoute {
  const { method, path } = operation;
  return {
    operation: operation,
    route: {
      method,
      path,
      takesBody: takesBody(operation),
      handle: async (request) =>
        act({
          ids: parsePathIds(request.params),
          query: parse(operation.query, request.query, "query"),
          // A missing body counts as an empty object, as clients without anything to say send none.
          body: parse(operation.body, request.body.value ?? {}, "body"),
          request,
          caller: ANONYMOUS,
        }),
    },
  };
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
