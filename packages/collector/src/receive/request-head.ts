// Request head: parses the headers of one export into key, project and encodings, or a refusal. The body is still
// unread.
// Invariants:
//   request-head.1. The request's own key takes precedence over the environment's. A bad key refuses the request; the
//        configured key never replaces it.
//   request-head.2. No unchecked header value reaches a log, a file name or an outgoing header.
//   request-head.3. One place parses the media type, and only these two encodings exist.
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

interface Seen {
  contentType: string;
  contentEncoding: string;
  contentLength: string;
  apiKey: string | null;
  tenantId: string | null;
  project: string | null;
  projectAlias: string | null;
  authorization: string;
  origin: string;
  /** Name of a duplicate header that must be unique. */
  twice: string;
}

/** `rawHeaders` of node: name, value, name, value. */
export function readHead(rawHeaders: readonly string[], rules: HeadRules): RequestHead | HeadRefusal {
  const seen = readHeaders(rawHeaders);
  const format = readFormat(seen.contentType);
  const refuse = (refusal: RefusalKind, message: string): HeadRefusal => ({
    refusal,
    message,
    format: format ?? "json",
  });
  if (seen.twice !== "") return refuse("unauthenticated", `the header ${seen.twice} came twice`);
  if (rules.ingestToken !== null && !sameSecret(parseBearer(seen.authorization), rules.ingestToken))
    return refuse("unauthenticated", "this collector requires its ingest token as Authorization: Bearer");
  const apiKey = seen.apiKey ?? rules.apiKey; // request-head.1
  if (apiKey === null)
    return refuse("unauthenticated", "the header X-API-Key is missing and no TRACING_API_KEY is set");
  if (!isHeaderSafe(apiKey))
    return refuse("unauthenticated", "the X-API-Key header is empty or has illegal characters");
  const tenantId = seen.tenantId ?? "";
  if (tenantId !== "" && !isHeaderSafe(tenantId))
    return refuse("bad_header", "the X-Tenant-Id header has illegal characters");
  const project = headerText(seen.project ?? seen.projectAlias ?? "");
  if (project === null)
    return refuse(
      "bad_header",
      `the Tracing-Project header is longer than ${PROJECT_BYTES_MAX} bytes or has control characters`,
    );
  if (format === null)
    return refuse("unsupported_media_type", "the Content-Type must be application/json or application/x-protobuf");
  const encoding = ENCODINGS.get(seen.contentEncoding.trim().toLowerCase());
  if (encoding === undefined)
    return refuse("unsupported_media_type", "the Content-Encoding must be one of identity, gzip, deflate, zstd");
  const contentLength = /^\d{1,15}$/.test(seen.contentLength) ? Number(seen.contentLength) : null;
  return { format, encoding, apiKey, tenantId, project, contentLength, origin: seen.origin };
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

function readHeaders(rawHeaders: readonly string[]): Seen {
  const seen: Seen = {
    contentType: "",
    contentEncoding: "",
    contentLength: "",
    apiKey: null,
    tenantId: null,
    project: null,
    projectAlias: null,
    authorization: "",
    origin: "",
    twice: "",
  };
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    const value = rawHeaders[at + 1] ?? "";
    switch (name) {
      case "content-type":
        seen.contentType = value;
        break;
      case "content-encoding":
        // A second header would mean two layers: the joined value is not a known encoding.
        seen.contentEncoding += seen.contentEncoding === "" ? value : `,${value}`;
        break;
      case "content-length":
        seen.contentLength = value;
        break;
      case "x-api-key":
        if (seen.apiKey !== null) seen.twice = "X-API-Key";
        seen.apiKey = value;
        break;
      case "x-tenant-id":
        if (seen.tenantId !== null) seen.twice = "X-Tenant-Id";
        seen.tenantId = value;
        break;
      case "tracing-project":
        seen.project = value;
        break;
      case "langsmith-project":
        seen.projectAlias = value;
        break;
      case "authorization":
        seen.authorization = value;
        break;
      case "origin":
        seen.origin = value;
        break;
      default:
    }
  }
  return seen;
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
