// HTTP adapter of the Backend port, on node's own client.
// Invariants:
//   - It follows no redirect: a key goes to the configured address or nowhere.
//   - A reply costs at most REPLY_BYTES_MAX of memory and `timeoutMs` of time, regardless of the backend.
//   - A key appears in the request's headers only: never in a reason, never in an error.
//   - `limits()` never waits.
//   backend/http.5. A reply counts only after the whole request, or after the connection has closed: then the body has
//        no reader left.
//   backend/http.6. The wait between attempts does not depend on our wall clock.
//   backend/http.7. One 404 has no effect. The older form is used while /info requires it, or for OLDER_FORM_MS after
//        two 404s in a row when /info does not mention the form. That form carries no attachments: media return
//        to their messages, and runs with other attachments are refused.
// The pieces:
//   exchange.ts   one request and its whole reply
//   reply.ts      the outcome of an upload by its status
import type { Clock } from "@holdpoint/base/clock.ts";
import { mask } from "@holdpoint/base/log/log.ts";
import { formatBatchJson, type Body, type BodyEncoding } from "../../encode/batch-body.ts";
import { createLine, exchange, type BackendLine, type BackendRequest, type LineOptions } from "./exchange.ts";
import type { Backend, BackendLimits, SendOutcome } from "./port.ts";
import { toOutcome } from "./reply.ts";

export interface HttpBackendOptions extends LineOptions {
  readonly timeoutMs: number;
}

const REASON_CHARS_MAX = 300;
const INFO_TIMEOUT_MS = 10_000;
const INFO_FRESH_MS = 5 * 60_000;
const OLDER_FORM_MS = 5 * 60_000;
/** Sequential misses: concurrent uploads count as one. */
const MISSES_MAX = 2;

export interface HttpBackend extends Backend {
  /**
   * Requests `/info` and waits for the reply: `limits()` is up to date then. Resolves with a summary; rejects without a
   * reply.
   */
  readonly ask: () => Promise<string>;
}

/** State of one backend: its connections, its limits, and the form of its uploads. */
interface BackendState {
  readonly options: HttpBackendOptions;
  readonly clock: Clock;
  readonly line: BackendLine;
  readonly closed: AbortController;
  limits: BackendLimits;
  infoAskedAt: number;
  /** Support for the multipart form according to /info; null: unknown. */
  multipartKnown: boolean | null;
  olderUntil: number;
  misses: number;
  missedAt: number;
}

export function createHttpBackend(options: HttpBackendOptions, clock: Clock): HttpBackend {
  const state: BackendState = {
    options,
    clock,
    line: createLine(options, clock),
    closed: new AbortController(),
    limits: LIMITS_ASSUMED,
    infoAskedAt: -Infinity,
    multipartKnown: null,
    olderUntil: -Infinity,
    misses: 0,
    missedAt: -Infinity,
  };
  return {
    send: (body, signal) => send(state, body, signal),
    ask: () => ask(state),
    limits() {
      refreshLimits(state);
      return state.limits;
    },
    close() {
      state.closed.abort();
      state.line.agent.destroy();
    },
  };
}

async function ask(state: BackendState): Promise<string> {
  state.infoAskedAt = state.clock.monotonic();
  const signal = state.closed.signal;
  const asked = { path: "/info", method: "GET", headers: {}, timeoutMs: INFO_TIMEOUT_MS, signal };
  const reply = await exchange(state.line, asked);
  const info = reply.status === 200 ? readInfo(reply.text) : null;
  state.multipartKnown = info === null ? null : info.multipart; // known before the first upload, which avoids a futile attempt
  if (info === null) return `/info reports no limits (status ${reply.status}): the defaults apply`;
  const { limits } = info;
  state.limits = limits;
  return `/info: up to ${limits.runsMax} runs and ${limits.bytesMax} bytes an upload, ${limits.encoding}`;
}

function refreshLimits(state: BackendState): void {
  if (state.clock.monotonic() - state.infoAskedAt < INFO_FRESH_MS) return;
  ask(state).catch(() => undefined); // limits stay unchanged; the uploads themselves report an unreachable backend
}

/** An upload that began at `beganAt` received 404 for the multipart form (backend/http.7). */
async function onMissing(state: BackendState, beganAt: number): Promise<SendOutcome> {
  await ask(state).catch(() => undefined);
  if (state.multipartKnown === false)
    return { kind: "retry", reason: "404 for the multipart form, as /info says", afterMs: 0 };
  if (state.multipartKnown === true)
    return { kind: "retry", reason: "404 for the multipart form, which /info names", afterMs: null };
  if (beganAt >= state.missedAt) state.misses++;
  state.missedAt = state.clock.monotonic();
  if (state.misses < MISSES_MAX) return { kind: "retry", reason: "404 for the multipart form", afterMs: null };
  state.misses = 0;
  state.olderUntil = state.missedAt + OLDER_FORM_MS;
  return { kind: "retry", reason: "404 for the multipart form, twice: the older form follows", afterMs: 0 };
}

async function send(state: BackendState, body: Body, signal: AbortSignal): Promise<SendOutcome> {
  const { clock, line, options } = state;
  try {
    const beganAt = clock.monotonic();
    const asMultipart = state.multipartKnown ?? beganAt >= state.olderUntil;
    const form = asMultipart ? multipartRequest(body) : batchRequest(body);
    if (form === null)
      return { kind: "refused", reason: "the backend has no multipart form, and no other takes attachments" }; // backend/http.7
    const reply = await exchange(line, { ...form, timeoutMs: options.timeoutMs, signal });
    if (asMultipart && reply.status === 404) return await onMissing(state, beganAt);
    if (asMultipart) state.misses = 0;
    const { "retry-after": retryAfter, date } = reply.headers;
    // The backend's own clock is the reference for a date: ours may be days off (backend/http.6).
    const saidAt = Date.parse(date ?? "");
    const now = Number.isNaN(saidAt) ? clock.now() : saidAt;
    return toOutcome(reply.status, formatDetail(reply.text, body.tenant.apiKey), retryAfter, now);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${String(error.code)} ` : "";
    const reason = `${code}${error instanceof Error ? error.message : "the request failed"}`;
    return { kind: "retry", reason: mask(reason, [body.tenant.apiKey]), afterMs: null };
  }
}

type Form = Pick<BackendRequest, "path" | "method" | "headers" | "body">;

function identity(body: Body): Record<string, string> {
  const { apiKey, tenantId } = body.tenant;
  return { "x-api-key": apiKey, ...(tenantId === "" ? {} : { "x-tenant-id": tenantId }) };
}

function multipartRequest(body: Body): Form {
  const headers: Record<string, string | number> = {
    ...identity(body),
    "content-type": `multipart/form-data; boundary=${body.boundary}`,
    "content-length": body.bytes.length,
  };
  if (body.encoding !== "identity") headers["content-encoding"] = body.encoding;
  return { path: "/runs/multipart", method: "POST", headers, body: body.bytes };
}

function batchRequest(body: Body): Form | null {
  const text = formatBatchJson(body);
  if (text === null) return null;
  const json = Buffer.from(text);
  return {
    path: "/runs/batch",
    method: "POST",
    headers: { ...identity(body), "content-type": "application/json", "content-length": json.length },
    body: json,
  };
}

/** The backend's message: shortened, on one line, with the key masked. */
function formatDetail(text: string, apiKey: string): string {
  const masked = mask(text, [apiKey, JSON.stringify(apiKey).slice(1, -1)]); // masked first: the key may contain consecutive spaces
  return masked.replaceAll(/\s+/g, " ").trim().slice(0, REASON_CHARS_MAX);
}

/** Assumed by the backend's own SDKs when /info is silent. */
const LIMITS_ASSUMED: BackendLimits = { runsMax: 100_000, bytesMax: 20_971_520, encoding: "zstd" };

/** null: not a valid reply of `/info`. */
function readInfo(text: string): { readonly limits: BackendLimits; readonly multipart: boolean | null } | null {
  let info: unknown;
  try {
    info = JSON.parse(text);
  } catch {
    return null;
  }
  const ingest = toRecord(toRecord(info)["batch_ingest_config"]);
  const flags = toRecord(toRecord(info)["instance_flags"]);
  const positive = (value: unknown, assumed: number): number =>
    typeof value === "number" && Number.isFinite(value) && value >= 1 ? Math.floor(value) : assumed;
  const encoding: BodyEncoding =
    flags["zstd_compression_enabled"] !== false ? "zstd" : flags["gzip_body_enabled"] === true ? "gzip" : "identity";
  const runsMax = positive(ingest["size_limit"], LIMITS_ASSUMED.runsMax);
  const bytesMax = positive(ingest["size_limit_bytes"], LIMITS_ASSUMED.bytesMax);
  const named = ingest["use_multipart_endpoint"];
  return { limits: { runsMax, bytesMax, encoding }, multipart: typeof named === "boolean" ? named : null };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
