// Request head: parses the headers of one export into key, project and encodings, or a refusal. The body is still
// unread.
// Invariants:
//   - The request's own key takes precedence over the environment's. A bad key refuses the request; the configured key
//     never replaces it.
//   - No unchecked header value reaches a log, a file name or an outgoing header.
//   - One place parses the media type, and only these two encodings exist.
import { isUtf8 } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { RefusalKind, WireFormat } from "../otlp/status.ts";
import type { ContentEncoding } from "../shared/content-encoding.ts";

export interface RequestHead {
  readonly format: WireFormat;
  readonly encoding: ContentEncoding;
  readonly apiKey: string;
  readonly tenantId: string;
  readonly project: string;
  /** null: not declared. */
  readonly contentLength: number | null;
  readonly origin: string;
}

export interface HeadRefusal {
  readonly refusal: RefusalKind;
  readonly message: string;
  readonly format: WireFormat;
}

export interface HeadRules {
  readonly apiKey: string | null;
  readonly ingestToken: string | null;
}

const PROJECT_BYTES_MAX = 256;

/** `rawHeaders` of node: name, value, name, value. */
export function readHead(rawHeaders: readonly string[], rules: HeadRules): RequestHead | HeadRefusal {
  const headers = collectHeaders(rawHeaders);
  const last = (name: string): string | null => headers.get(name)?.at(-1) ?? null;
  const format = readFormat(last("content-type") ?? "");
  const refuse = (refusal: RefusalKind, message: string): HeadRefusal => ({
    refusal,
    message,
    format: format ?? "json",
  });
  const twice = ["X-API-Key", "X-Tenant-Id"].find((name) => (headers.get(name.toLowerCase())?.length ?? 0) > 1);
  if (twice !== undefined) return refuse("unauthenticated", `the header ${twice} came twice`);
  if (rules.ingestToken !== null && !sameSecret(parseBearer(last("authorization") ?? ""), rules.ingestToken))
    return refuse("unauthenticated", "this collector requires its ingest token as Authorization: Bearer");
  const apiKey = last("x-api-key") ?? rules.apiKey;
  if (apiKey === null)
    return refuse("unauthenticated", "the header X-API-Key is missing and no TRACING_API_KEY is set");
  if (!isHeaderSafe(apiKey))
    return refuse("unauthenticated", "the X-API-Key header is empty or has illegal characters");
  const tenantId = last("x-tenant-id") ?? "";
  if (tenantId !== "" && !isHeaderSafe(tenantId))
    return refuse("bad_header", "the X-Tenant-Id header has illegal characters");
  const project = headerText(last("tracing-project") ?? last("langsmith-project") ?? "");
  if (project === null)
    return refuse(
      "bad_header",
      `the Tracing-Project header is longer than ${PROJECT_BYTES_MAX} bytes or has control characters`,
    );
  if (format === null)
    return refuse("unsupported_media_type", "the Content-Type must be application/json or application/x-protobuf");
  // Two headers would mean two layers: the joined value is not a known encoding.
  const encoding = ENCODINGS.get((headers.get("content-encoding") ?? []).join().trim().toLowerCase());
  if (encoding === undefined)
    return refuse("unsupported_media_type", "the Content-Encoding must be one of identity, gzip, deflate, zstd");
  const length = last("content-length") ?? "";
  const contentLength = /^\d{1,15}$/.test(length) ? Number(length) : null;
  return { format, encoding, apiKey, tenantId, project, contentLength, origin: last("origin") ?? "" };
}

const ENCODINGS: ReadonlyMap<string, ContentEncoding> = new Map([
  ["", "identity"],
  ["identity", "identity"],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["zlib", "deflate"],
  ["zstd", "zstd"],
]);

/** Values by lower-case name, in their order. */
function collectHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    const value = rawHeaders[at + 1] ?? "";
    const known = found.get(name);
    if (known === undefined) found.set(name, [value]);
    else known.push(value);
  }
  return found;
}

/** Ignores parameters and case. */
export function readFormat(contentType: string): WireFormat | null {
  const semicolon = contentType.indexOf(";");
  const type = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (
    type === "application/x-protobuf" ||
    type === "application/protobuf" ||
    /^application\/[\w.-]+\+proto(buf)?$/.test(type)
  )
    return "protobuf";
  return type === "application/json" || /^application\/[\w.-]+\+json$/.test(type) ? "json" : null;
}

/** Printable ASCII without spaces at the ends: safe as an outgoing header value. */
export function isHeaderSafe(value: string): boolean {
  return value.length <= 4096 && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);
}

/** Decodes header bytes as UTF-8 when valid, else as Latin-1. null: unusable. */
function headerText(value: string): string | null {
  if (value === "") return "";
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length > PROJECT_BYTES_MAX) return null;
  const text = isUtf8(bytes) ? bytes.toString("utf8") : value;
  return /[\u0000-\u001f\u007f-\u009f]/.test(text) ? null : text.trim();
}

function parseBearer(authorization: string): string {
  return /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1] ?? "";
}

function sameSecret(shown: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(shown), digest(wanted));
}
