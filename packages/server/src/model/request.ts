// Request: a question that a program asks, as a thread of the graph of requests. Its status is that of its thread:
//
// | thread | question | request |
// | --- | --- | --- |
// | busy | not stored yet, or its answer is being taken | open |
// | interrupted | open | open |
// | idle | answered | answered |
// | error DeadlineExpired | abandoned | expired |
// | error, any other | abandoned, or never stored | cancelled |
//
// Invariant: an end is final. The thread takes an answer or a cancellation and nothing else
// (runs/accept/request-only.ts), and both need it to be interrupted.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { builtInAssistantId, REQUEST_GRAPH } from "./built-in-assistant.ts";
import type { Interrupt } from "./interrupt.ts";
import type { Thread } from "./thread.ts";

export const REQUEST_ASSISTANT = builtInAssistantId(REQUEST_GRAPH);

/** Member of the state of its graph. */
export interface AskedQuestion {
  readonly payload: Json;
  /** Schema of the answer, with the rules of the question as `x-holdpoint-…`; null for none. */
  readonly schema: JsonObject | null;
}

export type RequestStatus = "open" | "answered" | "expired" | "cancelled";

export interface StoredRequest {
  readonly thread: Thread;
  /** Null until it is stored. */
  readonly interrupt: Interrupt | null;
}

/** Error of the thread of a cancelled request; its message is the reason. */
export const CANCELLED = "RequestCancelled";
/** Error of a thread whose deadline has passed. */
export const EXPIRED = "DeadlineExpired";

/** Member of the thread's `config.configurable`: the hash of the body that asked. */
export const BODY_HASH = "holdpoint_request";

/**
 * Members of the metadata that the server writes: limited callers reach requests by them, and a repeated call finds its
 * own.
 */
const OWN_METADATA = ["requested_by", "asked_as"];

/** Name of the first member that only the server writes. */
export function findOwnMember(metadata: JsonObject | null | undefined): string | null {
  return OWN_METADATA.find((name) => Object.hasOwn(metadata ?? {}, name)) ?? null;
}

export function readBodyHash({ config }: Pick<Thread, "config">): Json {
  const configurable = config["configurable"];
  return isJsonObject(configurable) ? (configurable[BODY_HASH] ?? null) : null;
}

export function isRequest(thread: Pick<Thread, "graphId" | "config">): boolean {
  return thread.graphId === REQUEST_GRAPH && readBodyHash(thread) !== null;
}

export function decideRequestStatus({ thread, interrupt }: StoredRequest): RequestStatus {
  if (thread.status === "busy" || thread.status === "interrupted") return "open";
  if (thread.status === "idle") return interrupt?.state === "answered" ? "answered" : "cancelled";
  return thread.error?.error === EXPIRED ? "expired" : "cancelled";
}

type KnownThread = Pick<Thread, "metadata" | "graphId" | "threadId">;

const isOfRequests = ({ graphId, metadata }: KnownThread): boolean =>
  (graphId ?? metadata["graph_id"]) === REQUEST_GRAPH;

/** @throws {ApiError} `invalid_request` for a member of a request that only the server writes */
export function refuseOwnMembers(thread: KnownThread, metadata: JsonObject | null): void {
  const name = isOfRequests(thread) ? findOwnMember(metadata) : null;
  if (name !== null) throw ownMember(name);
}

export function ownMember(name: string): ApiError {
  const [path, message] = [`metadata.${name}`, "is written by the server"];
  return new ApiError("invalid_request", `body field ${path}: ${message}`, { errors: [{ path, message }] });
}

/** The answers, edits and runs that other threads take. @throws {ApiError} `request_fixed` */
export function refuseChange(thread: KnownThread): void {
  if (!isOfRequests(thread)) return;
  const detail = `The thread ${thread.threadId} is a request: answer or cancel it.`;
  throw new ApiError("request_fixed", detail, { see: `/requests/${thread.threadId}` });
}
