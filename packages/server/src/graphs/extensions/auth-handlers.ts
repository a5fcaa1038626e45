// Auth handlers: handlers written with the SDK's `Auth` class → the port that routes call.
// Invariants:
//   auth-handlers.1. Only an explicit success admits a caller: a handler that throws, or returns an invalid answer,
//        rejects. No header bypasses the handlers.
//   auth-handlers.2. The first of `resource:action`, `resource`, `*:action`, `*` decides, alone. Without any of them
//        the caller may. Exceptions: events of EXPLICIT need a handler of that
//        name; those of WIDER are the wider event unless a handler has their name.
//   auth-handlers.3. A filter may contain only known conditions; with any other the call fails instead of returning
//        more.
//   - `authenticate` sees the path that routed the request.
import type { Access, AuthorizationQuery, AccessRequest } from "../../ports/ports.ts";
import type { Caller, Condition } from "../../model/model.ts";
import { ApiError, describeError, HandlerRefusal } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { ExportPath } from "../config/export-path.ts";
import { importExport } from "../loading/import-user-module.ts";

export class AuthLoadError extends Error {
  constructor({ file, exportName }: ExportPath, cause: string) {
    super(`auth (${file}, export ${exportName}) does not load: ${cause}`);
    this.name = "AuthLoadError";
  }
}

/** Members of the SDK's `Auth`, by name: the user's copy of the class differs from ours. */
interface Handlers {
  readonly authenticate: (request: Request) => unknown;
  readonly callbacks?: Readonly<Record<string, (context: object) => unknown>>;
}

/** @throws {AuthLoadError} */
export async function loadAuth(path: ExportPath, folder: string, log: Log): Promise<Access> {
  let exported: unknown;
  try {
    exported = await importExport(path, folder);
  } catch (error) {
    throw new AuthLoadError(path, describeError(error).message);
  }
  const handlers = (exported as { readonly "~handlerCache"?: Partial<Handlers> } | null)?.["~handlerCache"];
  if (handlers === undefined)
    throw new AuthLoadError(path, "the export is not an Auth of @langchain/langgraph-sdk/auth");
  const { authenticate, callbacks } = handlers;
  if (authenticate === undefined)
    throw new AuthLoadError(path, "it has no authenticate handler: the server would reject every caller");
  return createHandlerAccess({ authenticate, ...(callbacks === undefined ? {} : { callbacks }) }, log);
}

export function createHandlerAccess(handlers: Handlers, log: Log): Access {
  return {
    async authenticate(request) {
      let given: unknown;
      try {
        given = await handlers.authenticate(webRequest(request));
      } catch (error) {
        throw toAuthRefusal(error) ?? unauthenticated(error, log);
      }
      return toCaller(given);
    },
    async authorize(caller, asked) {
      const question = { ...asked, event: knownEvent(handlers.callbacks ?? {}, asked.event) };
      const handler = findHandler(handlers.callbacks ?? {}, question.event);
      if (handler === undefined && EXPLICIT.has(question.event))
        throw new ApiError("forbidden", `No handler allows ${question.event}.`);
      if (handler === undefined) return { scope: null, value: question.value };
      const value = structuredClone(question.value); // handlers change it in place
      let answer: unknown;
      try {
        answer = await handler(buildAuthContext(caller, { event: question.event, value }));
      } catch (error) {
        throw toAuthRefusal(error) ?? error; // auth-handlers.1
      }
      if (answer === null || answer === undefined || answer === true) return { scope: null, value: changed(value) };
      if (answer === false) throw new ApiError("forbidden", `The caller lacks permission: ${question.event}.`);
      return { scope: toConditions(answer, question.event), value: changed(value) };
    },
  };
}

/** Anything else in a Host header could move the border between host and path. */
const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i;

/** Handlers see the request without its body, which is still unread. */
function webRequest({ method, url, headers }: AccessRequest): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) sent.append(name, one);
  }
  const host = sent.get("host") ?? "localhost";
  const base = `http://${HOST.test(host) && URL.canParse(`http://${host}`) ? host : "localhost"}`;
  const address = new URL(base + url); // as text: a path of "//elsewhere" is not another host
  // dot segments, fragments, and characters that only one of the two parsers escapes.
  if (address.pathname !== url.split("?")[0]) throw new ApiError("not_found", "No route has this path.");
  return new Request(address, { method, headers: sent });
}

const USER_UNITS_MAX = 65_536;

/** A text is the identity; an object has one, and may have more members. */
function toCaller(given: unknown): Caller {
  if (given === false || given === null || given === undefined) throw credentialsNeeded();
  const known: JsonObject = typeof given === "string" ? { identity: given } : plain(given);
  const { identity, is_authenticated: isAuthenticated } = known;
  if (typeof identity !== "string" || identity === "") {
    // auth-handlers.1
    throw new Error("authenticate must return the caller's identity: a text, or an object with `identity`");
  }
  if (isAuthenticated === false) throw credentialsNeeded();
  const permissions = filterTexts(known["permissions"]);
  const user = { display_name: identity, is_authenticated: true, ...known, permissions };
  const groups = filterTexts(known["groups"]);
  return { name: identity, user, permissions, ...(groups.length === 0 ? {} : { groups }) };
}

function filterTexts(listed: unknown): readonly string[] {
  return Array.isArray(listed) ? listed.filter((one): one is string => typeof one === "string") : [];
}

/** A run keeps its user: members without a JSON form are omitted, and the size has a limit. */
function plain(given: unknown): JsonObject {
  const text = JSON.stringify(given) ?? "";
  if (text.length > USER_UNITS_MAX)
    throw new Error(`authenticate returned a user of more than ${USER_UNITS_MAX} characters`);
  const parsed: unknown = text === "" ? null : JSON.parse(text);
  return isJsonObject(parsed) ? parsed : {};
}

/** Events that older catch-all handlers would allow with the rest (auth-handlers.2). */
const EXPLICIT: ReadonlySet<string> = new Set([
  "assistants:administrate",
  "acts:search",
  "policies:administrate",
  "policies:create",
  "policies:delete",
  "keys:create",
  "keys:search",
  "keys:delete",
  "people:search",
  "people:delete",
]);

/** Events that older handlers know under a wider name. */
const WIDER: ReadonlyMap<string, string> = new Map([
  ["threads:answer", "threads:create_run"],
  ["threads:claim", "threads:update"],
  ["requests:create", "threads:create_run"],
  ["requests:read", "threads:read"],
  ["requests:search", "threads:search"],
  ["requests:cancel", "threads:update"],
  ["policies:search", "threads:search"],
]);

/** The event as the handlers know it: a handler of exactly this name, otherwise the wider event. */
function knownEvent(callbacks: NonNullable<Handlers["callbacks"]>, event: string): string {
  return Object.hasOwn(callbacks, event) ? event : (WIDER.get(event) ?? event);
}

function findHandler(callbacks: NonNullable<Handlers["callbacks"]>, event: string) {
  const [resource, action] = event.split(":");
  const names = EXPLICIT.has(event) ? [event] : [event, resource, `*:${action}`, "*"];
  const name = names.find((one) => one !== undefined && Object.hasOwn(callbacks, one));
  return name === undefined ? undefined : callbacks[name]; // auth-handlers.2
}

function buildAuthContext(caller: Caller, { event, value }: AuthorizationQuery): object {
  const [resource, action] = event.split(":");
  return { event, resource, action, value, user: caller.user, permissions: caller.permissions };
}

/** The handler's version of the members; members without a JSON form do not count. */
function changed(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function toConditions(answer: unknown, event: string): readonly Condition[] {
  if (!isJsonObject(answer)) throw invalidFilter(event, "is neither a boolean nor an object");
  return Object.entries(answer).flatMap(([key, wanted]) => {
    if (isScalar(wanted)) return [{ key, op: "eq" as const, value: wanted }];
    const operators = isJsonObject(wanted) ? Object.entries(wanted) : [];
    if (operators.length === 0) throw invalidFilter(event, `has no value for "${key}"`);
    return operators.flatMap(([operator, operand]) => listConditions(key, operator, operand, event));
  });
}

function listConditions(key: string, operator: string, operand: Json, event: string): readonly Condition[] {
  if (operator === "$eq" && isScalar(operand)) return [{ key, op: "eq", value: operand }];
  const parts = operator === "$contains" ? (Array.isArray(operand) ? (operand as readonly Json[]) : [operand]) : [];
  if (parts.length === 0 || !parts.every(isScalar)) throw invalidFilter(event, `does not say what "${key}" must be`);
  return parts.map((value) => ({ key, op: "contains", value }));
}

function isScalar(value: Json): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** A defect of the handler: the log has the details, the caller gets a short error (auth-handlers.3). */
function invalidFilter(event: string, why: string): Error {
  return new Error(`the authorization handler for ${event} answered with a filter that ${why}`);
}

/** The SDK's HTTPException, from any copy: its status, message and headers. */
function toAuthRefusal(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (!(error instanceof Error) || !("status" in error) || !("headers" in error)) return null;
  if (typeof error.status !== "number" || !(error.status >= 400 && error.status <= 599)) return null;
  const headers = Object.fromEntries(new Headers(error.headers as Record<string, string>));
  delete headers["content-length"];
  delete headers["content-type"];
  if (error.status === 401) return new ApiError("unauthenticated", error.message, {}, headers);
  if (error.status === 403) return new ApiError("forbidden", error.message, {}, headers);
  return new HandlerRefusal(error.status, error.message, headers);
}

const DEFECTS = [TypeError, ReferenceError];

/** A failed check rejects the caller, however it fails. Its message may quote the token, so the caller gets ours. */
function unauthenticated(error: unknown, log: Log): ApiError {
  const { name, message } = describeError(error);
  const isDefect = DEFECTS.some((kind) => error instanceof kind);
  log.warning("authenticate_failed", { name, ...(isDefect ? { message, stack: (error as Error).stack } : {}) });
  return credentialsNeeded();
}

function credentialsNeeded(): ApiError {
  return new ApiError("unauthenticated", "The credentials of this request were not accepted.");
}
