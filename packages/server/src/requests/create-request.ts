// Request creation: a question of a program becomes a thread of the graph of requests, whose run asks it.
// Invariants:
//   - One Idempotency-Key is one request, for as long as it exists: the id of its thread derives from the key and its
//     caller. Two calls at the same time meet at the row of the thread.
//   - The reply comes when the question is stored: it can be answered from then on.
//   - The schema of the answer brings no rules and no default answer: a model may have written it.
//   - The server writes who asked. Only its own MCP tools write which call asked: a repeat of the call finds the
//     request by it.
import type { RequestBody } from "@holdpoint/api/requests.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { exceedsBytes } from "@holdpoint/base/json/json-size.ts";
import { contentHash, uuidV5 } from "@holdpoint/base/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import { findSchemaFault } from "../interrupts/prepared-schema.ts";
import { BUILT_IN_NAMESPACE } from "../model/built-in-assistant.ts";
import { type Caller, type Scope, VALUES_ONLY } from "../model/model.ts";
import {
  type AskedQuestion,
  BODY_HASH,
  findOwnMember,
  ownMember,
  readBodyHash,
  REQUEST_ASSISTANT,
  type StoredRequest,
} from "../model/request.ts";
import { findRulesFault } from "../model/review/review-rules.ts";
import type { RunCall } from "../runs/accept/run-request.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { scopeIdempotencyKey } from "../runs/accept/start-snapshot.ts";
import { isAsked, readRequest, waitForRequest } from "./read-request.ts";

export interface AskCall {
  readonly caller: Caller;
  readonly scope: Scope;
  readonly idempotencyKey: string | null;
}

export interface CreatedRequest {
  readonly request: StoredRequest;
  /** False for a repeat. */
  readonly created: boolean;
}

/** Size of a question as JSON. */
const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024;
/** Longest wait for a worker. */
const ASK_MS_MAX = 30_000;

/** @throws {ApiError} `member_too_large`, `request_key_reused`, `invalid_request`, and as startRun() */
export async function createRequest(agent: AgentContext, call: AskCall, body: RequestBody): Promise<CreatedRequest> {
  const { caller, scope, idempotencyKey } = call;
  if (exceedsBytes(body.payload ?? null, PAYLOAD_BYTES_MAX)) {
    const cure = "Upload the data, and ask with a reference to it.";
    throw new ApiError("member_too_large", `payload has more than ${PAYLOAD_BYTES_MAX} bytes as JSON. ${cure}`);
  }
  const own = findOwnMember(body.metadata);
  if (own !== null && !(own === "asked_as" && caller.origin?.via === "mcp")) throw ownMember(own);
  const hash = contentHash(JSON.stringify(sortMembers(body as Json)));
  const run = buildCall(body, { ...call, hash });
  const requestId =
    idempotencyKey === null
      ? agent.newId()
      : uuidV5(`request ${scopeIdempotencyKey(caller, run, idempotencyKey)}`, BUILT_IN_NAMESPACE);
  const address = { requestId, scope };
  const created = await start(agent, caller, requestId, run);
  const request = await waitForRequest(agent, address, isAsked, { ms: ASK_MS_MAX });
  if (readBodyHash(request.thread) !== hash) throw keyReused();
  if (isAsked(request)) return { request, created };
  const detail = "The question waits for a worker. Send it again, with the same Idempotency-Key.";
  throw new ApiError("overloaded", detail, {}, { "Retry-After": "5" });
}

/** The request of this key is there. */
class AlreadyThere extends Error {}

/** @returns false if the request is there */
async function start(agent: AgentContext, caller: Caller, threadId: string, call: RunCall): Promise<boolean> {
  try {
    await startRun(agent, caller, {
      threadId,
      call,
      async first(tx) {
        if ((await tx.thread(threadId)) !== null) throw new AlreadyThere();
      },
    });
    return true;
  } catch (error) {
    if (error instanceof AlreadyThere) return false;
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "idempotency_key_reused") throw keyReused();
    if (error.code !== "thread_exists") throw error;
    return readRequest(agent, { requestId: threadId, scope: null }).then(() => false); // another call was faster
  }
}

function keyReused(): ApiError {
  return new ApiError("request_key_reused", "An earlier request with another body used this Idempotency-Key.");
}

function buildCall(
  body: RequestBody,
  { caller, scope, idempotencyKey, hash }: AskCall & { readonly hash: string },
): RunCall {
  const { priority, metadata, notify, webhook } = body;
  const question: AskedQuestion = { payload: body.payload ?? null, schema: buildSchema(body) };
  return {
    assistantId: REQUEST_ASSISTANT,
    input: { request: question as unknown as Json },
    command: null,
    config: { configurable: { [BODY_HASH]: hash } },
    context: null,
    metadata: {
      ...metadata,
      requested_by: caller.name,
      ...(priority === null || priority === undefined ? {} : { priority }),
    },
    interruptBefore: null,
    interruptAfter: null,
    multitaskStrategy: "reject",
    onPaused: "reject",
    ifNotExists: "create",
    durability: "exit",
    stream: VALUES_ONLY,
    checkpointId: null,
    subgraph: null,
    webhook: null,
    notify: notify ?? null,
    webhooks:
      webhook === null || webhook === undefined
        ? []
        : [{ webhookId: null, url: webhook, format: "request", headers: {} }],
    afterSeconds: 0,
    idempotencyKey: idempotencyKey === null ? null : `request ${idempotencyKey}`,
    requestHash: hash,
    reach: { threads: scope, assistants: null },
    asksRequest: true,
  };
}

/** @returns the schema with the rules of the question; null without either @throws {ApiError} `invalid_request` */
function buildSchema(body: RequestBody): JsonObject | null {
  const { response_schema: declared, title, deadline, priority } = body;
  const review = {
    ...body.review,
    ...(body.assignees === null || body.assignees === undefined ? {} : { assignees: body.assignees }),
  };
  const rules: JsonObject = {
    ...(title === null || title === undefined ? {} : { "x-holdpoint-title": title }),
    ...(priority === null || priority === undefined ? {} : { "x-holdpoint-priority": priority }),
    ...(Object.keys(review).length === 0 ? {} : { "x-holdpoint-review": review }),
    ...(deadline === null || deadline === undefined
      ? {}
      : { "x-holdpoint-deadline": buildDeadline(deadline, body.on_deadline) }),
  };
  const reviewFault = Object.keys(review).length === 0 ? null : findRulesFault(review);
  if (reviewFault !== null) throw invalid("review", reviewFault);
  const schemaFault = declared === null || declared === undefined ? null : findSchemaFault(declared);
  if (schemaFault !== null) throw invalid("response_schema", schemaFault);
  const rule = Object.keys(declared ?? {}).find((name) => name.startsWith("x-holdpoint-"));
  if (rule !== undefined) throw invalid(`response_schema.${rule}`, "rules of a request have members of their own");
  if (declared !== null && declared !== undefined) return { ...declared, ...rules };
  return Object.keys(rules).length === 0 ? null : rules;
}

function buildDeadline(deadline: number | string, then: RequestBody["on_deadline"]): JsonObject {
  const time = typeof deadline === "number" ? { expires_in_seconds: deadline } : { expires_at: deadline };
  if (then === null) return time;
  return {
    ...time,
    on_expiry: then === undefined || then === "fail" ? "fail" : { answer: (then.answer ?? null) as Json },
  };
}

function invalid(path: string, message: string): ApiError {
  return new ApiError("invalid_request", `body field ${path}: ${message}`, { errors: [{ path, message }] });
}

/** The same for every order of members. */
function sortMembers(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sortMembers);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sortMembers(value[name] ?? null)]));
}
