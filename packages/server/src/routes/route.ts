// Route: an operation of the contract with its handler. The route parses and authorizes; the handler only acts.
// Invariants:
//   - An unauthenticated caller is rejected before the body is read, and before any lookup.
//   - An operation acts only after the authorization of its event.
//   - A streamed reply ends with the access of its caller (while-admitted.ts), also if its thread left the scope.
//   - So does a read that waits, as long as its reply has not begun.
import { isDeepStrictEqual } from "node:util";
import {
  type AccessEvent,
  type AnyOperation,
  type Operation,
  parse,
  parsePathIds,
  takesBody,
} from "@holdpoint/api/operation.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { chooseBodyBytesMax, checkMemberSizes } from "@holdpoint/api/member-size.ts";
import { type JsonObject, isJsonObject } from "@holdpoint/base/json/json.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { JsonBody } from "@holdpoint/base/http/server/body.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { fromAccessValue, isRunEvent, toAccessValue } from "../auth/handler-value.ts";
import { ANONYMOUS, type Ask, authorize } from "../auth/authorize.ts";
import { readOrigin } from "../auth/request-origin.ts";
import type { AgentContext } from "../context/context.ts";
import type { Caller, Scope } from "../model/model.ts";
import type { Access } from "../ports/ports.ts";
import { requireInScope, requireStillInScope } from "./path-scope.ts";
import { watchEnds, whileAdmitted } from "./while-admitted.ts";

export interface Call<Query, Body> {
  readonly ids: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly request: HttpRequest & { readonly body: JsonBody };
  readonly caller: Caller;
  /**
   * Scope of the objects in the path. Operations apply it themselves to lists, to ids in the body, and to run creation,
   * whose thread may not exist yet.
   */
  readonly scope: Scope;
  /** Authorizes events beyond that of the contract. */
  readonly ask: Ask;
}

export interface AgentRoute {
  readonly operation: AnyOperation;
  readonly bind: (agent: AgentContext) => HttpRoute;
}

/** @param watches whether the operation itself ends its stream with the access of the caller */
export function route<Query, Body>(
  operation: Operation<Query, Body>,
  act: (call: Call<Query, Body>) => Promise<HttpReply>,
  { watches = false } = {},
): AgentRoute {
  const { method, path } = operation;
  const handle = async (agent: AgentContext, request: HttpRequest): Promise<HttpReply> => {
    const access = operation.access === "public" ? null : agent.access;
    const caller = withOrigin(access === null ? ANONYMOUS : await access.authenticate(request), request);
    const ids = parsePathIds(request.params, operation);
    const query = parse(operation.query, request.query, "query");
    const sent = takesBody(operation) ? await readSized(request, operation, agent.limits.memberBytesMax) : NO_BODY;
    // A missing body counts as an empty object, because clients send none for it.
    const body = parse(operation.body, sent.value ?? {}, "body");
    const call = { ids, query, body, caller, request: { ...request, body: sent } };
    const { access: event } = operation;
    const checked = (reply: HttpReply, isSame: (now: Caller) => Promise<boolean>): HttpReply =>
      access === null || watches ? reply : lastingReply(reply, { agent, access, request, caller, isSame });
    if (access === null || event === "public" || event === "authenticated") {
      return checked(await act({ ...call, scope: null, ask: async () => null }), async () => true);
    }
    const ask: Ask = async (other, value) => (await authorize(access, caller, other, value)).scope;
    const admitted = await admit(access, event, call);
    if (addsTo(operation)) takeCalls(agent, caller, body);
    if (admitted.scope !== null && !isRunEvent(event)) await requireInScope(agent, ids, admitted.scope);
    const isSame = async (now: Caller): Promise<boolean> => {
      await requireStillInScope(agent, ids, admitted.scope);
      return isDeepStrictEqual((await admit(access, event, { ...call, caller: now })).scope, admitted.scope);
    };
    if (method !== "get") return checked(await act({ ...call, ...admitted, ask }), isSame);
    const hasEnded = watchEnds(access.changes, caller.name);
    const reply = await act({ ...call, ...admitted, ask }).finally(hasEnded);
    if (hasEnded() && !(await isSame(await access.authenticate({ ...request, isRecheck: true }))))
      throw new ApiError("forbidden", "The access of the caller has changed meanwhile.");
    return checked(reply, isSame);
  };
  return {
    operation,
    bind: (agent) => ({
      method,
      path,
      guarded: operation.access !== "public",
      handle: (request) => handle(agent, request),
    }),
  };
}

/** Calls that the rate of a tenant limits: those that make or change something, and end nothing. */
function addsTo({ method, path, access }: AnyOperation): boolean {
  return ADDING.has(access) && method !== "delete" && !path.endsWith("/cancel") && !path.endsWith("/prune");
}

const ADDING: ReadonlySet<AnyOperation["access"]> = new Set([
  "threads:create",
  "threads:update",
  "threads:create_run",
  "requests:create",
  "policies:create",
  "assistants:create",
  "assistants:update",
  "crons:create",
  "crons:update",
  "store:put",
]);

/** A batch counts its runs. */
function takeCalls({ tenants }: AgentContext, caller: Caller, body: unknown): void {
  tenants?.find(caller).takeCalls(Array.isArray(body) ? body.length : 1);
}

/** @throws {ApiError} as `readBody`; `member_too_large` */
async function readSized(request: HttpRequest, operation: AnyOperation, memberBytesMax: number): Promise<JsonBody> {
  const sent = await request.readBody(chooseBodyBytesMax(operation, memberBytesMax));
  checkMemberSizes(sent.value, operation.large, memberBytesMax, sent.text.length);
  return sent;
}

interface Lasting {
  readonly agent: AgentContext;
  readonly access: Access;
  readonly request: HttpRequest;
  readonly caller: Caller;
  /** Whether a caller has the rights that the call had. */
  readonly isSame: (now: Caller) => Promise<boolean>;
}

function lastingReply(reply: HttpReply, { agent, access, request, caller, isSame }: Lasting): HttpReply {
  const { body } = reply;
  if (body === null || typeof body === "string") return reply;
  const { changes } = access;
  const check = async (): Promise<boolean> => isSame(await access.authenticate({ ...request, isRecheck: true }));
  return { ...reply, body: whileAdmitted(body, { clock: agent.clock, changes, name: caller.name, check }) };
}

const NO_BODY: JsonBody = { value: undefined, text: "" };
/** The caller with the origin of the call, for the audit trail. */
export function withOrigin(caller: Caller, request: Pick<HttpRequest, "remoteAddress" | "headers" | "via">): Caller {
  return { ...caller, origin: readOrigin(request) };
}

interface Admitted<Query, Body> {
  readonly scope: Scope;
  readonly query: Query;
  readonly body: Body;
}

/** Authorizes every member of a list in the body. The call must stay within the intersection of the scopes. */
async function admit<Query, Body>(
  access: Access,
  event: AccessEvent,
  call: Pick<Call<Query, Body>, "ids" | "query" | "body" | "caller">,
): Promise<Admitted<Query, Body>> {
  const { ids, caller } = call;
  const query = call.query as JsonObject;
  const one = async (body: JsonObject) => {
    const parts = { ids, query, body };
    const { scope, value } = await authorize(access, caller, event, toAccessValue(event, parts));
    return { scope, ...fromAccessValue(event, parts, value) };
  };
  if (!Array.isArray(call.body)) {
    const { scope, ...changed } = await one(isJsonObject(call.body) ? call.body : {});
    return { scope, query: changed.query as Query, body: changed.body as Body };
  }
  let scope: Scope = null;
  const members: JsonObject[] = [];
  for (const member of call.body as readonly JsonObject[]) {
    const answer = await one(member);
    if (answer.scope !== null) scope = [...(scope ?? []), ...answer.scope];
    members.push(answer.body);
  }
  return { scope, query: call.query, body: members as Body };
}

export function json(value: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return jsonText(JSON.stringify(value), headers);
}

export function jsonText(body: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status: 200, body, headers };
}

export const NO_CONTENT: HttpReply = { status: 204, body: null };

export function paginationHeaders(total: number, offset: number, count: number): Readonly<Record<string, string>> {
  const next = offset + count;
  return {
    "X-Pagination-Total": String(total),
    ...(next < total ? { "X-Pagination-Next": String(next) } : {}),
  };
}

/** Keeps the requested members; all without a selection. */
export function select(value: object, members: readonly string[] | null | undefined): object {
  if (members === null || members === undefined) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => members.includes(name)));
}

/** Path parameter matched by the router. */
export function id(ids: Readonly<Record<string, string>>, name: string): string {
  const value = ids[name];
  if (value === undefined) throw new Error(`the path has no ${name}`);
  return value;
}
