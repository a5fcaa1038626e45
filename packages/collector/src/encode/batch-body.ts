// Batch body: the bytes of a sealed batch, and operations that need no runs: cut in two, shorten, convert to
// /runs/batch.
// Invariants:
//   - Cutting loses no run: the runs of the parts, in order, are the runs of the body.
//   - Bodies below ASYNC_BYTES compress synchronously (a third of the cost of streaming), larger ones off the event
//     loop.
//   batch-body.3. A body owns its bytes and holds no more memory than their length: delivery frees all of it.
import { promisify } from "node:util";
import {
  constants,
  gunzipSync,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
  zstdDecompressSync,
  type ZstdOptions,
} from "node:zlib";
import { closing } from "./multipart.ts";
import { withMedia } from "../shared/attachment-reference.ts";
import type { Tenant } from "../shared/tenants.ts";

export type BodyEncoding = "zstd" | "gzip" | "identity";

export interface Body {
  readonly tenant: Tenant;
  /** Arrival of its first span, ms since 1970. */
  readonly createdMs: number;
  readonly boundary: string;
  readonly encoding: BodyEncoding;
  /** Compressed, closing boundary included. */
  readonly bytes: Buffer;
  /** Uncompressed, without the closing boundary. */
  readonly rawBytes: number;
  /** Start of each run in the uncompressed bytes. */
  readonly offsets: readonly number[];
  /** Index of the first run in the original batch. */
  readonly first: number;
}

/** The fastest level: higher ones take twice the CPU time for a few per cent. Most batches fit one chunk. */
const ZSTD: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 256 * 1024 };
const ASYNC_BYTES = 1024 * 1024;
/** Limit for decompressing our own bodies: far above any limit of a batch. */
const RAW_BYTES_MAX = 2 * 1024 * 1024 * 1024 - 1;

const zstdAsync = promisify(zstdCompress);
const gzipAsync = promisify(gzip);

export interface Raw {
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly boundary: string;
  /** Closing boundary included. Only read before the function returns or resolves. */
  readonly bytes: Buffer;
  /** Without the closing boundary. */
  readonly rawBytes: number;
  readonly offsets: readonly number[];
  readonly first: number;
}

/** Compression leaves small results in large buffers: 16 KiB held for 1. */
function exact(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength === bytes.length ? bytes : copyBytes(bytes);
}

function copyBytes(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Returns small batches synchronously. */
export function compress(raw: Raw, encoding: BodyEncoding): Body | Promise<Body> {
  const { tenant, createdMs, boundary, offsets, first, rawBytes, bytes: all } = raw;
  const body = (bytes: Buffer): Body => ({
    tenant,
    createdMs,
    boundary,
    encoding,
    bytes: exact(bytes), // batch-body.3
    rawBytes,
    offsets,
    first,
  });
  if (encoding === "identity") return body(copyBytes(all));
  if (all.length < ASYNC_BYTES)
    return body(encoding === "zstd" ? zstdCompressSync(all, ZSTD) : gzipSync(all, { level: 6 }));
  return (encoding === "zstd" ? zstdAsync(all, ZSTD) : gzipAsync(all, { level: 6 })).then(body);
}

export function decompressBody(body: Body): Buffer {
  const options = { maxOutputLength: RAW_BYTES_MAX };
  if (body.encoding === "zstd") return zstdDecompressSync(body.bytes, options);
  return body.encoding === "gzip" ? gunzipSync(body.bytes, options) : body.bytes;
}

/** The runs `from` to `to` of a body, as a body of their own. */
export async function cut(body: Body, from: number, to: number): Promise<Body> {
  const raw = decompressBody(body);
  const start = body.offsets[from] ?? 0;
  const end = body.offsets[to] ?? body.rawBytes;
  return compress(
    {
      tenant: body.tenant,
      createdMs: body.createdMs,
      boundary: body.boundary,
      bytes: Buffer.concat([raw.subarray(start, end), closing(body.boundary)]),
      rawBytes: end - start,
      offsets: body.offsets.slice(from, to).map((offset) => offset - start),
      first: body.first + from,
    },
    body.encoding,
  );
}

interface Part {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

const PART_HEAD =
  /^--[^\r]+\r\nContent-Disposition: form-data; name="([^"]*)"\r\nContent-Type: ([^\r]*)\r\nContent-Length: (\d+)\r\n\r\n/;
const PART_HEAD_BYTES_MAX = 2048;

/** Parses our own multipart text. */
export function splitParts(body: Body): Part[] {
  const raw = decompressBody(body).subarray(0, body.rawBytes);
  const parts: Part[] = [];
  for (let at = 0; at < raw.length;) {
    const head = PART_HEAD.exec(raw.toString("utf8", at, Math.min(raw.length, at + PART_HEAD_BYTES_MAX)));
    if (head === null) break;
    const start = at + Buffer.byteLength(head[0]);
    const end = start + Number(head[3]);
    parts.push({ name: head[1] ?? "", type: head[2] ?? "", content: raw.subarray(start, end) });
    at = end + 2;
  }
  return parts;
}

const SHORTENED_TEXT_CHARS = 2_000;
const ATTACHMENT = "attachment.";

/**
 * The same body with its largest part cut to its beginning, for a backend that refuses a run as too large.
 * @returns null if no part can shrink
 */
export async function shorten(body: Body): Promise<Body | null> {
  const parts = splitParts(body);
  let largest: Part | null = null;
  for (const part of parts) {
    const canShrink = !part.name.match(/^(post|patch)\.[^.]*$/) && part.content.length > 4 * SHORTENED_TEXT_CHARS;
    if (canShrink && part.content.length > (largest?.content.length ?? 0)) largest = part;
  }
  if (largest === null) return null;
  const beginning = largest.content.toString("utf8", 0, SHORTENED_TEXT_CHARS);
  const marker = { _truncated: true, _original_bytes: largest.content.length, beginning };
  const pieces: Buffer[] = [];
  for (const part of parts) {
    const isNote = part === largest && part.name.startsWith(ATTACHMENT);
    const note = `Left out by the collector: ${part.content.length} bytes of ${part.type} were too large for the backend.`;
    const shorter = isNote ? note : JSON.stringify(marker);
    const content = part === largest ? Buffer.from(shorter) : part.content;
    const type = isNote ? "text/plain" : part.type;
    const head = `--${body.boundary}\r\nContent-Disposition: form-data; name="${part.name}"\r\nContent-Type: ${type}\r\nContent-Length: ${content.length}\r\n\r\n`;
    pieces.push(Buffer.from(head), content, Buffer.from("\r\n"));
  }
  const { tenant, createdMs, boundary, first } = body;
  const rawBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const bytes = Buffer.concat([...pieces, closing(boundary)]);
  return compress({ tenant, createdMs, boundary, bytes, rawBytes, offsets: [0], first }, body.encoding);
}

/**
 * The same runs for a backend without multipart: `{"post": […], "patch": […]}`, content inline. This form carries no
 * attachments: media return to the places of their references.
 * @returns null if a run has an attachment of another kind
 */
export function formatBatchJson(body: Body): string | null {
  const runs = new Map<string, { readonly event: string; json: string }>();
  const media = new Map<string, Map<string, string>>();
  for (const part of splitParts(body)) {
    const [event = "", id = "", field = ""] = part.name.split(".");
    if (event === "attachment") {
      if (!media.has(id)) media.set(id, new Map());
      media.get(id)?.set(field, `data:${part.type};base64,${part.content.toString("base64")}`);
      continue;
    }
    const text = part.content.toString("utf8");
    const run = runs.get(id);
    if (field === "") runs.set(id, { event, json: text });
    else if (run !== undefined) run.json = `${run.json.slice(0, -1)},"${field}":${text}}`;
  }
  for (const [id, urls] of media) {
    const run = runs.get(id);
    if (run === undefined) return null;
    const placed = new Set<string>();
    run.json = withMedia(run.json, (name) => {
      placed.add(name);
      return urls.get(name);
    });
    if ([...urls.keys()].some((name) => !placed.has(name))) return null;
  }
  const list = (event: string): string => {
    const texts: string[] = [];
    for (const run of runs.values()) if (run.event === event) texts.push(run.json);
    return texts.join(",");
  };
  return `{"post":[${list("post")}],"patch":[${list("patch")}]}`;
}
