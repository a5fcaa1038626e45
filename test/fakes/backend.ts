// A tracing backend that enforces the real one's rules on every upload and records the accepted runs. `script` decides
// the reply to each upload. A broken rule replies 400 and adds to `violations`, so that a test which asserts on them
// cannot pass by accident.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certified } from "./certificate.ts";
import type { Writable } from "node:stream";
import { TLSSocket } from "node:tls";
import { gunzipSync, zstdDecompressSync } from "node:zlib";

export interface AcceptedRun {
  readonly id: string;
  readonly event: "post" | "patch";
  readonly key: string;
  readonly tenantId: string;
  readonly main: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>> | null;
  readonly attachments: readonly { readonly name: string; readonly type: string; readonly bytes: number }[];
  /** Main part, inputs and outputs as they came. */
  readonly text: string;
}

export interface Upload {
  readonly path: string;
  readonly key: string;
  readonly headers: IncomingHttpHeaders;
  readonly runs: readonly AcceptedRun[];
  readonly bytes: number;
  readonly rawBytes: number;
  /** Index of this backend, from 0. */
  readonly index: number;
}

/** Reply to an upload: a status, or a fault. */
export type Answer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | "hang"
  | "reset"
  /** Takes the runs, then cuts the connection before the reply. */
  | "take_and_reset"
  /** Says more bytes than it sends, then cuts. */
  | "lie"
  /** Answers with something that is no HTTP. */
  | "garbage"
  /** Never ends the head of its reply. */
  | "endless_head"
  /** Never ends its reply. */
  | "drip"
  | "endless";

export interface FakeBackend {
  readonly url: string;
  readonly uploads: Upload[];
  /** Everything taken with a 2xx, in order. */
  readonly runs: AcceptedRun[];
  readonly violations: string[];
  /** Number of requests, `/info` included. */
  readonly requests: () => number;
  script: (upload: Upload) => Answer | Promise<Answer>;
  info: Record<string, unknown> | null;
  /** Resolves when `runs` holds that many different ids (or `done` says so). */
  whenRuns(count: number): Promise<void>;
  when(done: () => boolean): Promise<void>;
  close(): Promise<void>;
}

const TAKE: Answer = { status: 202, body: "{}" };

export async function startBackend(
  options: {
    readonly port?: number;
    readonly batchOnly?: boolean;
    readonly tls?: Certified;
    /** `uploads` and `runs` stay empty: for tests that send more than fits. */
    readonly forgets?: boolean;
  } = {},
): Promise<FakeBackend> {
  const watchers = new Set<() => void>();
  const violations: string[] = [];
  const uploads: Upload[] = [];
  const runs: AcceptedRun[] = [];
  let count = 0;
  let requests = 0;

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const wire = Buffer.concat(chunks);
    const key = String(request.headers["x-api-key"] ?? "");
    const tenantId = String(request.headers["x-tenant-id"] ?? "");
    const path = request.url ?? "";
    if (options.batchOnly === true && path !== "/runs/batch") return answer(response, { status: 404, body: "{}" });
    let upload: Upload;
    try {
      const raw = decompressed(wire, request.headers["content-encoding"]);
      const found =
        path === "/runs/batch"
          ? readBatchJson(raw, key, tenantId)
          : readMultipart(raw, String(request.headers["content-type"]), key, tenantId);
      for (const run of found) checkRun(run);
      const { headers } = request;
      upload = { path, key, headers, runs: found, bytes: wire.length, rawBytes: raw.length, index: count++ };
    } catch (error) {
      violations.push(error instanceof Error ? error.message : String(error));
      for (const wake of watchers) wake();
      return answer(response, { status: 400, body: '{"error":"violation"}' });
    }
    if (options.forgets !== true) uploads.push(upload);
    const what = await backend.script(upload);
    const takes = what === "take_and_reset" || (typeof what === "object" && what.status >= 200 && what.status < 300);
    if (takes && options.forgets !== true) runs.push(...upload.runs);
    if (typeof what === "object") answer(response, what);
    else misbehave(what, response);
    for (const wake of watchers) wake();
  }

  const listener: RequestListener = (request, response) => {
    requests++;
    response.on("error", () => undefined);
    if (request.url === "/info")
      return backend.info === null
        ? answer(response, { status: 500 })
        : answer(response, { status: 200, body: JSON.stringify(backend.info) });
    take(request, response).catch(() => undefined);
  };
  const server: Server =
    options.tls === undefined ? createServer(listener) : createSecureServer({ ...options.tls }, listener);
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  const backend: FakeBackend = {
    url: `http${options.tls === undefined ? "" : "s"}://127.0.0.1:${port}`,
    requests: () => requests,
    uploads,
    runs,
    violations,
    script: () => TAKE,
    info: { version: "1", batch_ingest_config: { size_limit: 1000, size_limit_bytes: 20_971_520 }, instance_flags: {} },
    whenRuns: (wanted) => backend.when(() => new Set(runs.map((run) => `${run.key} ${run.id}`)).size >= wanted),
    when: (done) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!done()) return;
          watchers.delete(check);
          resolve();
        };
        watchers.add(check);
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return backend;
}

function answer(response: ServerResponse, what: Exclude<Answer, string>): void {
  const body = what.body ?? "{}";
  response.writeHead(what.status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...what.headers,
  });
  response.end(body);
}

function misbehave(what: Extract<Answer, string>, response: ServerResponse): void {
  if (what === "reset" || what === "take_and_reset") {
    if (response.socket instanceof TLSSocket) response.socket.destroy(); // cannot be reset
    else response.socket?.resetAndDestroy();
  }
  if (what === "garbage") response.socket?.end("\u0000\u0001SSH-2.0-not-http\r\n\r\n");
  if (what === "endless_head" && response.socket !== null) {
    response.socket.write("HTTP/1.1 202 Accepted\r\n");
    pour(response.socket, Buffer.from(`x-more: ${"y".repeat(1000)}\r\n`));
  }
  if (what === "lie") {
    response.writeHead(202, { "content-length": 1000 });
    response.write("{}", () => response.socket?.destroy());
  }
  if (what === "drip") {
    response.writeHead(202);
    const timer = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(timer));
  }
  if (what === "endless") {
    response.writeHead(202);
    pour(response, Buffer.alloc(65_536, 0x20));
  }
}

/** Writes without end, as fast as the other side reads. */
function pour(to: Writable, chunk: Buffer): void {
  while (!to.destroyed && to.write(chunk));
  if (!to.destroyed) to.once("drain", () => pour(to, chunk));
}

function decompressed(wire: Buffer, encoding: string | undefined): Buffer {
  if (encoding === "zstd") return zstdDecompressSync(wire);
  return encoding === "gzip" ? gunzipSync(wire) : wire;
}

interface Part {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

/** Strict: CRLF, boundary at the exact place where Content-Length says the part ends, closing boundary last. */
export function readParts(raw: Buffer, contentType: string): Part[] {
  const boundary = /^multipart\/form-data; boundary=([\w'()+,./:=?-]{1,70})$/.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error(`bad content type ${contentType}`);
  const parts: Part[] = [];
  let at = 0;
  for (;;) {
    if (raw.toString("latin1", at, at + boundary.length + 6) === `--${boundary}--\r\n`) {
      if (at + boundary.length + 6 !== raw.length) throw new Error("bytes after the closing boundary");
      return parts;
    }
    const open = `--${boundary}\r\n`;
    if (raw.toString("latin1", at, at + open.length) !== open) throw new Error(`no boundary at byte ${at}`);
    const headEnd = raw.indexOf("\r\n\r\n", at);
    const head = raw.toString("utf8", at + open.length, headEnd).split("\r\n");
    const field = (name: string): string =>
      head.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
    const name = /^form-data; name="([^"\r\n]+)"$/.exec(field("content-disposition"))?.[1];
    const length = Number(field("content-length"));
    if (name === undefined || field("content-length") === "" || field("content-type") === "" || head.length !== 3)
      throw new Error(`bad part head ${JSON.stringify(head)}`);
    const content = raw.subarray(headEnd + 4, headEnd + 4 + length);
    at = headEnd + 4 + length;
    if (raw.toString("latin1", at, at + 2) !== "\r\n") throw new Error(`part ${name} is not ${length} bytes long`);
    at += 2;
    parts.push({ name, type: field("content-type"), content });
  }
}

function parseObject(text: string, what: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} is no object`);
  return value as Record<string, unknown>;
}

/** A surrogate as an escape. JSON writes whole characters unescaped, so an escaped surrogate is a lone one. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

function readMultipart(raw: Buffer, contentType: string, key: string, tenantId: string): AcceptedRun[] {
  const runs = new Map<string, { -readonly [Name in keyof AcceptedRun]: AcceptedRun[Name] }>();
  const seen = new Set<string>();
  for (const { name, type, content } of readParts(raw, contentType)) {
    if (seen.has(name)) throw new Error(`part ${name} came twice`);
    seen.add(name);
    const [event, id = "", field] = name.split(".");
    const run = runs.get(id);
    if (event === "attachment") {
      if (run === undefined) throw new Error(`attachment of ${id} before its run`);
      run.attachments = [...run.attachments, { name: field ?? "", type, bytes: content.length }];
      continue;
    }
    if (event !== "post" && event !== "patch") throw new Error(`unknown event ${name}`);
    if (type !== "application/json") throw new Error(`part ${name} is ${type}`);
    const text = content.toString("utf8");
    if (!Buffer.from(text).equals(content)) throw new Error(`part ${name} is not UTF-8`);
    if (HALF_CHARACTER.test(text)) throw new Error(`part ${name} has half a character`);
    if (field === undefined) {
      const main = parseObject(text, name);
      runs.set(id, { id, event, key, tenantId, main, inputs: {}, outputs: null, attachments: [], text });
      continue;
    }
    if (run === undefined) throw new Error(`${name} came before the main part`);
    run.text += `\n${text}`;
    if (field === "inputs") run.inputs = parseObject(text, name);
    else if (field === "outputs") run.outputs = parseObject(text, name);
    else throw new Error(`unknown field ${name}`);
  }
  return [...runs.values()];
}

function readBatchJson(raw: Buffer, key: string, tenantId: string): AcceptedRun[] {
  const { post, patch } = parseObject(raw.toString("utf8"), "batch") as { post: unknown[]; patch: unknown[] };
  const read = (event: "post" | "patch", value: unknown): AcceptedRun => {
    const { inputs, outputs, ...main } = value as Record<string, Record<string, unknown>>;
    const id = main["id"] as unknown as string;
    return {
      id,
      event,
      key,
      tenantId,
      main,
      inputs: inputs ?? {},
      outputs: outputs ?? null,
      attachments: [],
      text: JSON.stringify(value),
    };
  };
  return [...post.map((value) => read("post", value)), ...patch.map((value) => read("patch", value))];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const RUN_TYPES = new Set(["tool", "chain", "llm", "retriever", "embedding", "prompt", "parser"]);
const RUN_BYTES_MAX = 25 * 1024 * 1024;

function checkRun({ id, main, text }: AcceptedRun): void {
  const refuse = (why: string): never => {
    throw new Error(`run ${id}: ${why}`);
  };
  if (!UUID.test(id) || main["id"] !== id) refuse("part name and id differ");
  if (text.length > RUN_BYTES_MAX) refuse("too large");
  const order = String(main["dotted_order"]).split(".");
  const ids = order.map((segment) => segment.slice(22));
  if (!order.every((segment) => /^\d{8}T\d{12}Z/.test(segment) && UUID.test(segment.slice(22))))
    refuse(`dotted_order ${order.join(".")}`);
  if (ids.at(-1) !== id) refuse("dotted_order does not end in the id");
  if (ids[0] !== main["trace_id"]) refuse("trace_id does not match first part of dotted_order");
  const parent = main["parent_run_id"];
  if (parent === undefined && order.length !== 1) refuse("dotted_order must contain a single part for root runs");
  if (parent !== undefined && order.length < 2) refuse("dotted_order must contain at least two parts for child runs");
  if (parent !== undefined && ids.at(-2) !== parent) refuse("parent_run_id does not match dotted_order");
  if (typeof main["name"] !== "string" || !RUN_TYPES.has(String(main["run_type"]))) refuse("name or run_type");
  for (const name of ["start_time", "end_time"]) if (Number.isNaN(Date.parse(String(main[name])))) refuse(name);
  if (typeof main["extra"] !== "object" || main["extra"] === null) refuse("extra");
  if (main["tags"] !== undefined && !Array.isArray(main["tags"])) refuse("tags");
  if (main["session_name"] === undefined && main["session_id"] === undefined) refuse("no project");
}
