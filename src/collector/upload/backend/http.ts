// HTTP adapter of the Backend port, on node's own client.
// Invariants:
//   backend/http.1. Redirects are never followed: a key goes to the configured address or nowhere.
//   backend/http.2. A reply costs at most REPLY_BYTES_MAX of memory and `timeoutMs` of time, regardless of the backend.
//   backend/http.3. A key appears in the request's headers only: never in a reason, never in an error.
//   backend/http.4. `limits()` never waits.
//   backend/http.5. A reply counts only when the whole request is sent or its connection is closed: then the body has
//        no reader left.
//   backend/http.6. The wait between attempts does not depend on our wall clock.
//   backend/http.7. One 404 has no effect. The older form is used while /info requires it, or for OLDER_FORM_MS after
//        two 404s in a row when /info does not mention the form. That form carries no attachments: runs with
//        attachments are refused.
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "../../../base/clock.ts";
import { mask } from "../../../base/log/log.ts";
import { batchJsonOf, hasAttachments, type Body, type BodyEncoding } from "../../encode/batch-body.ts";
import type { Backend, BackendLimits, SendOutcome } from "./port.ts";
import { outcomeOf } from "./reply.ts";

export interface HttpBackendOptions {
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly connectionsMax: number;
  readonly userAgent: string;
  readonly ca: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
}

const REPLY_BYTES_MAX = 64 * 1024;
const REASON_CHARS_MAX = 300;
const INFO_TIMEOUT_MS = 10_000;
const INFO_FRESH_MS = 5 * 60_000;
const OLDER_FORM_MS = 5 * 60_000;
/** Sequential misses: concurrent uploads count as one. */
const MISSES_MAX = 2;
/** Assumed by the backend's own SDKs when /info is silent. */
const LIMITS_ASSUMED: BackendLimits = { runsMax: 100_000, bytesMax: 20_971_520, encoding: "zstd" };

export interface HttpBackend extends Backend {
  /**
   * Asks for `/info` and waits for it: `limits()` is up to date then. Resolves with a summary; rejects without a reply.
   */
  readonly ask: () => Promise<string>;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

export function createHttpBackend(options: HttpBackendOptions, clock: Clock): HttpBackend {
  const base = options.endpoint.replace(/\/+$/, "");
  const secure = base.startsWith("https:");
  const pooling = { keepAlive: true, maxSockets: options.connectionsMax, scheduling: "lifo" as const };
  const proxyEnv: Record<string, string> = {};
  if (options.httpsProxy !== null) proxyEnv["HTTPS_PROXY"] = options.httpsProxy;
  if (options.noProxy !== null) proxyEnv["NO_PROXY"] = options.noProxy;
  const agent = secure
    ? new HttpsAgent({ ...pooling, proxyEnv, ...(options.ca === null ? {} : { ca: options.ca }) })
    : new HttpAgent(pooling);
  let limits = LIMITS_ASSUMED;
  let infoAskedAt = -Infinity;
  /** Support for the multipart form according to /info; null: unknown. */
  let multipartKnown: boolean | null = null;
  let olderUntil = -Infinity;
  let misses = 0;
  let missedAt = -Infinity;
  const closed = new AbortController();

  function exchange(
    path: string,
    init: { readonly method: string; readonly headers: Record<string, string | number>; readonly body?: Buffer },
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const send = secure ? httpsRequest : httpRequest;
      const headers = { "user-agent": options.userAgent, "accept-encoding": "identity", ...init.headers };
      let request: ClientRequest;
      let cancelTimer = (): void => undefined;
      const fail = (error: Error): void => {
        cancelTimer();
        request.destroy();
        reject(error);
      };
      try {
        request = send(base + path, { method: init.method, agent, headers, signal });
      } catch (error) {
        return reject(error instanceof Error ? error : new Error("the request cannot be made"));
      }
      cancelTimer = clock.after(timeoutMs, () => fail(new Error(`no reply within ${timeoutMs} ms`))); // backend/http.2
      request.once("error", fail);
      request.once("response", (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= REPLY_BYTES_MAX) chunks.push(chunk);
          else fail(new Error(`the reply is larger than ${REPLY_BYTES_MAX} bytes`)); // backend/http.2
        });
        response.once("aborted", () => fail(new Error("the reply was cut off")));
        response.once("error", fail);
        response.once("end", () => {
          cancelTimer();
          const text = Buffer.concat(chunks).toString("utf8");
          const settle = (): void => resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
          if (request.writableFinished) return settle();
          request.off("error", fail).once("close", settle).destroy(); // backend/http.5: the reply came before the end of the request
        });
      });
      request.end(init.body);
    });
  }

  async function ask(): Promise<string> {
    infoAskedAt = clock.monotonic();
    const reply = await exchange("/info", { method: "GET", headers: {} }, INFO_TIMEOUT_MS, closed.signal);
    const info = reply.status === 200 ? readInfo(reply.text) : null;
    multipartKnown = info === null ? null : info.multipart; // known before the first upload, which avoids a futile attempt
    if (info === null) return `/info says nothing of limits (status ${reply.status}): the usual ones are assumed`;
    ({ limits } = info);
    return `/info: up to ${limits.runsMax} runs and ${limits.bytesMax} bytes an upload, ${limits.encoding}`;
  }

  function refreshLimits(): void {
    if (clock.monotonic() - infoAskedAt < INFO_FRESH_MS) return;
    ask().catch(() => undefined); // limits stay unchanged; the uploads themselves report an unreachable backend
  }

  /** An upload that began at `beganAt` received 404 for the multipart form (backend/http.7). */
  async function onMissing(beganAt: number): Promise<SendOutcome> {
    await ask().catch(() => undefined);
    if (multipartKnown === false)
      return { kind: "retry", reason: "404 for the multipart form, as /info says", afterMs: 0 };
    if (multipartKnown === true)
      return { kind: "retry", reason: "404 for the multipart form, which /info names", afterMs: null };
    if (beganAt >= missedAt) misses++;
    missedAt = clock.monotonic();
    if (misses < MISSES_MAX) return { kind: "retry", reason: "404 for the multipart form", afterMs: null };
    misses = 0;
    olderUntil = missedAt + OLDER_FORM_MS;
    return { kind: "retry", reason: "404 for the multipart form, twice: the older form follows", afterMs: 0 };
  }

  async function send(body: Body, signal: AbortSignal): Promise<SendOutcome> {
    try {
      const beganAt = clock.monotonic();
      const asMultipart = multipartKnown ?? beganAt >= olderUntil;
      if (!asMultipart && hasAttachments(body))
        return { kind: "refused", reason: "the backend has no multipart form, and no other takes attachments" }; // backend/http.7
      const reply = await exchange(
        asMultipart ? "/runs/multipart" : "/runs/batch",
        asMultipart ? multipartRequest(body) : batchRequest(body),
        options.timeoutMs,
        signal,
      );
      if (asMultipart && reply.status === 404) return await onMissing(beganAt);
      if (asMultipart) misses = 0;
      const { "retry-after": retryAfter, date } = reply.headers;
      // A date is read against the backend's own clock: ours may be days off (backend/http.6).
      const saidAt = Date.parse(date ?? "");
      const now = Number.isNaN(saidAt) ? clock.now() : saidAt;
      return outcomeOf(reply.status, detailOf(reply.text, body.tenant.apiKey), retryAfter, now);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? `${String(error.code)} ` : "";
      const reason = `${code}${error instanceof Error ? error.message : "the request failed"}`;
      return { kind: "retry", reason: mask(reason, [body.tenant.apiKey]), afterMs: null }; // backend/http.3
    }
  }

  return {
    send,
    ask,
    limits() {
      refreshLimits(); // backend/http.4
      return limits;
    },
    close() {
      closed.abort();
      agent.destroy();
    },
  };
}

function identity(body: Body): Record<string, string> {
  const { apiKey, tenantId } = body.tenant;
  return { "x-api-key": apiKey, ...(tenantId === "" ? {} : { "x-tenant-id": tenantId }) };
}

function multipartRequest(body: Body): { method: string; headers: Record<string, string | number>; body: Buffer } {
  const headers: Record<string, string | number> = {
    ...identity(body),
    "content-type": `multipart/form-data; boundary=${body.boundary}`,
    "content-length": body.bytes.length,
  };
  if (body.encoding !== "identity") headers["content-encoding"] = body.encoding;
  return { method: "POST", headers, body: body.bytes };
}

function batchRequest(body: Body): { method: string; headers: Record<string, string | number>; body: Buffer } {
  const json = Buffer.from(batchJsonOf(body));
  return {
    method: "POST",
    headers: { ...identity(body), "content-type": "application/json", "content-length": json.length },
    body: json,
  };
}

/** The backend's message: shortened, on one line, with the key masked (backend/http.3). */
function detailOf(text: string, apiKey: string): string {
  const masked = mask(text, [apiKey, JSON.stringify(apiKey).slice(1, -1)]); // masked first: the key may contain consecutive spaces
  return masked.replaceAll(/\s+/g, " ").trim().slice(0, REASON_CHARS_MAX);
}

/** null: not a valid reply of `/info`. */
function readInfo(text: string): { readonly limits: BackendLimits; readonly multipart: boolean | null } | null {
  let info: unknown;
  try {
    info = JSON.parse(text);
  } catch {
    return null;
  }
  const ingest = recordOf(recordOf(info)["batch_ingest_config"]);
  const flags = recordOf(recordOf(info)["instance_flags"]);
  const positive = (value: unknown, assumed: number): number =>
    typeof value === "number" && Number.isFinite(value) && value >= 1 ? Math.floor(value) : assumed;
  const encoding: BodyEncoding =
    flags["zstd_compression_enabled"] !== false ? "zstd" : flags["gzip_body_enabled"] === true ? "gzip" : "identity";
  const runsMax = positive(ingest["size_limit"], LIMITS_ASSUMED.runsMax);
  const bytesMax = positive(ingest["size_limit_bytes"], LIMITS_ASSUMED.bytesMax);
  const named = ingest["use_multipart_endpoint"];
  return { limits: { runsMax, bytesMax, encoding }, multipart: typeof named === "boolean" ? named : null };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
