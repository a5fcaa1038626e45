// Request reading: one request, its next state, and pages of requests.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context/context.ts";
import type { Scope } from "../model/model.ts";
import { REQUEST_GRAPH } from "../model/built-in-assistant.ts";
import { decideRequestStatus, isRequest, type RequestStatus, type StoredRequest } from "../model/request.ts";
import type { Tx } from "../ports/ports.ts";
import { createWakeSignal, CutOff } from "../runs/streams/subscription.ts";
import { readStoredRequest } from "../webhooks/request-event.ts";

export interface RequestAddress {
  readonly requestId: string;
  readonly scope: Scope;
}

/** @throws {ApiError} `request_not_found` */
export async function requireRequest(
  tx: Pick<Tx, "thread" | "interrupts">,
  requestId: string,
  scope: Scope,
): Promise<StoredRequest> {
  const found = await readStoredRequest(tx, requestId);
  if (found !== null && isRequest(found.thread) && inScope(found.thread.metadata, scope)) return found;
  throw new ApiError("request_not_found", `There is no request ${requestId}.`);
}

export function readRequest(agent: AgentContext, { requestId, scope }: RequestAddress): Promise<StoredRequest> {
  return agent.storage.read((tx) => requireRequest(tx, requestId, scope));
}

export const hasEnded = (request: StoredRequest): boolean => decideRequestStatus(request) !== "open";

/** Stored: it can be answered, or has ended. */
export const isAsked = ({ thread }: StoredRequest): boolean => thread.status !== "busy";

/** A wake-up from another process may be lost. */
const LOOK_AGAIN_MS = 15_000;

export interface RequestWait {
  readonly ms: number;
  readonly onLeave?: (leave: () => void) => void;
}

/** @returns the request as soon as it is so, or as it is after the time @throws {ApiError} `request_not_found` */
export async function waitForRequest(
  agent: AgentContext,
  address: RequestAddress,
  isSo: (request: StoredRequest) => boolean,
  { ms, onLeave }: RequestWait,
): Promise<StoredRequest> {
  const { monotonic } = agent.clock;
  const until = monotonic() + ms;
  let last: StoredRequest | null = null;
  for await (const request of followRequest(agent, address, { until, ...(onLeave === undefined ? {} : { onLeave }) })) {
    last = request;
    if (isSo(request)) break;
  }
  return last ?? readRequest(agent, address);
}

interface Following extends Pick<RequestWait, "onLeave"> {
  /** Monotonic time. */
  readonly until: number;
}

/** The request now, and at each occasion to look again. @throws {ApiError} `request_not_found` */
export async function* followRequest(
  agent: AgentContext,
  address: RequestAddress,
  { until, onLeave }: Following,
): AsyncGenerator<StoredRequest> {
  const { clock } = agent;
  const signal = createWakeSignal(agent.events, address.requestId);
  onLeave?.(signal.leave);
  try {
    while (!signal.left()) {
      yield await readRequest(agent, address);
      const left = until - clock.monotonic();
      if (left <= 0) return;
      const cancel = clock.after(Math.min(left, LOOK_AGAIN_MS), signal.wake);
      try {
        await signal.next();
      } finally {
        cancel();
      }
    }
  } catch (error) {
    if (!(error instanceof CutOff)) throw error; // the server stops: the caller asks the next process
  } finally {
    signal.leave();
  }
}

export interface RequestSearch {
  readonly scope: Scope;
  readonly status: RequestStatus | null;
  readonly metadata: JsonObject;
  readonly search: readonly string[];
  readonly limit: number;
  readonly offset: number;
}

/** Texts of the payloads of a page. */
const PAGE_UNITS_MAX = 4_000_000;
const READ_AT_ONCE = 50;

/** @returns a page, and the offset of the next one; null on the last */
export async function searchRequests(
  agent: AgentContext,
  { status, metadata, limit, offset, ...query }: RequestSearch,
): Promise<{ readonly found: readonly StoredRequest[]; readonly next: number | null }> {
  if (query.search.length > 0) await agent.search.catchUp();
  const ids = await agent.storage.longReads.searchThreadIds({
    ...query,
    ids: null,
    idPrefix: null,
    status: status === "answered" ? "idle" : status === "expired" || status === "cancelled" ? "error" : null,
    metadata: { ...metadata, graph_id: REQUEST_GRAPH },
    limit,
    offset,
    sortBy: "created_at",
    descending: true,
  });
  const found: StoredRequest[] = [];
  let at = 0;
  for (let units = 0; at < ids.length && units < PAGE_UNITS_MAX;) {
    const part = ids.slice(at, at + READ_AT_ONCE);
    const read = await agent.storage.read((tx) => Promise.all(part.map(async (id) => readStoredRequest(tx, id))));
    for (const request of read) {
      if (units >= PAGE_UNITS_MAX) break;
      at++;
      if (request === null || !isRequest(request.thread) || !inScope(request.thread.metadata, query.scope)) continue;
      if (status !== null && decideRequestStatus(request) !== status) continue;
      found.push(request);
      units += JSON.stringify(request.interrupt?.value ?? null).length;
    }
  }
  return { found, next: at < ids.length || ids.length === limit ? offset + at : null };
}
