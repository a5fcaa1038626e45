// Ingest: the tracing backend's ingest API, as the collector and the `langsmith` SDK use it (upload → run changes →
// store).
// It accepts any key, because it listens on this machine only.
// Invariants:
//   - A 202 follows the durable write of the runs, and never an upload with a rejected part.
//   - An unreadable request changes nothing, and its sender gets the reason.
//   - Any page in a browser can reach this port: the Host header must name this machine, and pages of other sites
//     cannot change anything (base/http/server/loopback-host.ts).
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { checkHost, checkSite, type HostRules } from "@holdpoint/base/http/server/loopback-host.ts";
import { createCors, LOOPBACK_CORS } from "@holdpoint/base/http/server/cors.ts";
import { parseBoundary, toParts } from "./multipart.ts";
import { changeOfRun, changesOfBatch, changesOfParts, UploadError, type RunChange } from "./run-change.ts";
import type { TraceStore } from "./store.ts";
import { readUpload } from "./upload-body.ts";

export interface IngestOptions {
  readonly store: TraceStore;
  readonly hosts: HostRules;
  readonly version: string;
  readonly log: Log;
}

const pages = createCors(LOOPBACK_CORS);
const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** Limits for senders, which cut their uploads to them. */
const UPLOAD_RUNS_MAX = 1000;
const UPLOAD_BYTES_MAX = 20 * 1024 * 1024;

export function createIngest({ store, hosts, version, log }: IngestOptions): RequestListener {
  const info = JSON.stringify({
    version,
    batch_ingest_config: {
      use_multipart_endpoint: true,
      size_limit: UPLOAD_RUNS_MAX,
      size_limit_bytes: UPLOAD_BYTES_MAX,
      scale_up_qsize_trigger: 1000,
      scale_up_nthreads_limit: 16,
      scale_down_nempty_trigger: 4,
    },
    instance_flags: { gzip_body_enabled: true, zstd_compression_enabled: true },
  });

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    checkHost(incoming, hosts);
    checkSite(incoming, pages.allows, "uploads come from programs, or from pages of this machine");
    const path = (incoming.url ?? "/").split("?")[0] ?? "/";
    const what = `${incoming.method} ${path}`;
    if (what === "GET /info") return reply(outgoing, 200, info);
    if (what === "GET /ready") return replyReady(outgoing, store.problem());
    const read = chooseReader(what, incoming.headers["content-type"]);
    if (read === null) return reply(outgoing, 404, NOT_FOUND);
    await store.write(read(await readUpload(incoming, BODY_BYTES_MAX)));
    reply(outgoing, 202, "{}");
  };

  return (incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      if (outgoing.headersSent || outgoing.destroyed) {
        outgoing.destroy();
        return;
      }
      const { status, detail } = toUploadRefusal(error);
      if (status === 500) log.error("trace_upload_failed", { reason: describeError(error).message });
      reply(outgoing, status, JSON.stringify({ error: detail, detail }));
      // Reads and drops the rest of a body within the limits: closing the connection could lose the rejection.
      if (!incoming.complete && status === 413) incoming.destroy();
    });
  };
}

const NOT_FOUND = JSON.stringify({ error: "not found", detail: "No route has this path." });

type Reader = (body: Buffer) => readonly RunChange[];

function chooseReader(what: string, contentType: string | undefined): Reader | null {
  if (what === "POST /runs/multipart") {
    const boundary = parseBoundary(contentType);
    if (boundary === null) throw new UploadError("Content-Type must be multipart/form-data with a boundary");
    return (body) => changesOfParts(toParts(body, boundary));
  }
  if (what === "POST /runs/batch") return (body) => changesOfBatch(parseJson(body));
  if (what === "POST /runs") return (body) => [changeOfRun("post", parseJson(body), null)];
  const patched = /^PATCH \/runs\/([^/]+)$/.exec(what)?.[1];
  return patched === undefined ? null : (body) => [changeOfRun("patch", parseJson(body), patched)];
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new UploadError("the body is not valid JSON");
  }
}

function toUploadRefusal(error: unknown): { readonly status: number; readonly detail: string } {
  if (error instanceof UploadError) return { status: 422, detail: error.message };
  if (error instanceof ApiError) return { status: STATUS[error.code] ?? 400, detail: error.message };
  return { status: 500, detail: "The trace store failed; its log has the reason." };
}

const STATUS: Readonly<Partial<Record<string, number>>> = {
  body_too_large: 413,
  unsupported_media_type: 415,
  forbidden_host: 403,
  forbidden_origin: 403,
  storage_unavailable: 503,
};

function replyReady(outgoing: ServerResponse, problem: string | null): void {
  reply(outgoing, problem === null ? 200 : 503, JSON.stringify(problem === null ? { ok: true } : { error: problem }));
}

function reply(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  outgoing.end(body);
}
