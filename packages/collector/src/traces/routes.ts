// Routes of the trace store, for the console and the command line (request → query → reply).
import * as z from "zod";
import { queryWords } from "@holdpoint/api/text/search-words.ts";
import { TRACE_STATUSES } from "@holdpoint/api/traces/traces.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { eraseTraces } from "./erase.ts";
import type { Cursor, TraceSearch } from "./query.ts";
import type { TraceStore } from "./store.ts";

const LIMIT_MAX = 200;
const MS_TO_US = 1000;
const text = z.string().min(1).max(500);
const time = z.iso
  .datetime({ offset: true })
  .transform((value) => Date.parse(value) * MS_TO_US)
  .optional();
const milliseconds = z.coerce.number().min(0).optional();

/** `metadata=tenant:acme,user:7`: every pair must match. */
const metadata = text.optional().transform((value, context) =>
  (value ?? "")
    .split(",")
    .filter((pair) => pair !== "")
    .map((pair): [string, string] => {
      const colon = pair.indexOf(":");
      if (colon < 1) context.addIssue({ code: "custom", message: `"${pair}" is not of the form key:value` });
      return [pair.slice(0, colon), pair.slice(colon + 1)];
    }),
);

const searchQuery = z.object({
  project: text.optional(),
  name: text.optional(),
  status: z.enum(TRACE_STATUSES).optional(),
  q: text.optional(),
  model: text.optional(),
  tool: text.optional(),
  thread_id: text.optional(),
  tag: text.optional(),
  metadata,
  min_latency_ms: milliseconds,
  max_latency_ms: milliseconds,
  from: time,
  to: time,
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(50),
  cursor: z.string().max(500).optional(),
});

const ERASURE_BYTES_MAX = 8192;

const erasure = z
  .strictObject({
    thread_id: text.nullable().default(null),
    identifiers: z.array(text).min(1).max(10).nullable().default(null).describe("of a person whom the traces name"),
    cursor: z.string().max(500).nullable().default(null),
    dry_run: z.boolean().default(false),
  })
  .refine((body) => (body.thread_id === null) !== (body.identifiers === null), {
    path: ["thread_id"],
    message: "name a thread, or the identifiers of a person",
  });

export function traceRoutes(store: TraceStore): readonly HttpRoute[] {
  const get = (path: string, answer: (request: HttpRequest) => Promise<HttpReply>): HttpRoute => ({
    method: "get",
    path,
    handle: answer,
  });
  return [
    get("/traces", async ({ query }) => {
      const page = await store.search(parseSearch(query));
      const { next } = page;
      const nextCursor = next === null ? null : encodeCursor(next);
      return json({ items: page.items, next_cursor: nextCursor });
    }),
    get("/traces/projects", async () => json(await store.projects())),
    get("/traces/runs/{run_id}", async ({ params }) => found(await store.run(params["run_id"] ?? ""), "The run")),
    get("/traces/runs/{run_id}/attachments/{name}", async ({ params }) => {
      const file = await store.attachment(params["run_id"] ?? "", params["name"] ?? "");
      if (file === null) throw new ApiError("trace_not_found", "The attachment is not in the trace store.");
      return json({ type: file.type, base64: Buffer.from(file.bytes).toString("base64") });
    }),
    get("/traces/{trace_id}", async ({ params }) => found(await store.trace(readTraceId(params)), "The trace")),
    {
      method: "delete",
      path: "/traces",
      async handle({ readBody }) {
        const { value } = await readBody(ERASURE_BYTES_MAX);
        const { thread_id: threadId, identifiers, cursor, dry_run: dryRun } = parseFields(erasure, value, "body");
        const at = cursor === null ? null : decodeCursor(cursor);
        const { traces, next } = await eraseTraces(store, { threadId, identifiers, dryRun, cursor: at });
        return json({ traces, next_cursor: next === null ? null : encodeCursor(next) });
      },
    },
    {
      method: "delete",
      path: "/traces/{trace_id}",
      handle: async ({ params }) => {
        if (!(await store.deleteTrace(readTraceId(params)))) found(null, "The trace");
        return { status: 204, body: null };
      },
    },
  ];
}

const OTEL_ID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

/** Also in the senders' form of 32 hex digits, as in their logs. */
function readTraceId(params: HttpRequest["params"]): string {
  return (params["trace_id"] ?? "").replace(OTEL_ID, "$1-$2-$3-$4-$5").toLowerCase();
}

function json(value: unknown): HttpReply {
  return { status: 200, body: JSON.stringify(value) };
}

/** @throws {ApiError} `trace_not_found` */
function found(body: string | null, what: string): HttpReply {
  if (body !== null) return { status: 200, body };
  throw new ApiError(
    "trace_not_found",
    `${what} is not in the trace store: it never arrived, or was deleted to make room.`,
  );
}

/** @throws {ApiError} `invalid_request` */
function parseFields<T>(schema: z.ZodType<T>, given: unknown, where: "query" | "body"): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  throw new ApiError("invalid_request", `${where} field ${errors[0]?.path}: ${errors[0]?.message}`, { errors });
}

function parseSearch(query: HttpRequest["query"]): TraceSearch {
  const data = parseFields(searchQuery, query, "query");
  const micros = (value: number | undefined): number | null => (value === undefined ? null : value * MS_TO_US);
  return {
    project: data.project ?? null,
    name: data.name ?? null,
    status: data.status ?? null,
    words: queryWords(data.q),
    model: data.model ?? null,
    tool: data.tool ?? null,
    threadId: data.thread_id ?? null,
    tag: data.tag ?? null,
    metadata: data.metadata,
    latencyMin: micros(data.min_latency_ms),
    latencyMax: micros(data.max_latency_ms),
    from: data.from ?? null,
    to: data.to ?? null,
    limit: data.limit,
    cursor: data.cursor === undefined ? null : decodeCursor(data.cursor),
  };
}

function encodeCursor({ started, traceId }: Cursor): string {
  return Buffer.from(`${started} ${traceId}`).toString("base64url");
}

function decodeCursor(cursor: string): Cursor {
  const [started = "", traceId = ""] = Buffer.from(cursor, "base64url").toString().split(" ");
  if (/^-?\d+$/.test(started) && traceId !== "") return { started: Number(started), traceId };
  throw new ApiError("invalid_request", "cursor must come from a reply of this server.", {
    errors: [{ path: "cursor", message: "must come from a reply of this server" }],
  });
}
