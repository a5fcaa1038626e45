// Shape request: what one destination gets of a request: without the items that its rules leave out, redacted once more,
// with the attributes of the GenAI conventions.
// Invariants:
//   - The rules of a destination see what the rules of the file left, and can only remove more of it.
//   - Fails closed: a request that cannot be shaped is not sent.
//   - Redaction comes before and after normalization: rules for the sender's names and rules for the names of the
//     conventions both hold.
//   - Sampling draws as the sampler does: a destination with a rate up to the backend's gets no trace that the backend
//     does not keep.
import { setImmediate as nextTurn } from "node:timers/promises";
import { classifyRecord } from "../logs/record-kinds.ts";
import { createNormalizer, type NormalizeSpan } from "../normalize/normalize-span.ts";
import { encodeRecords, encodeSpans } from "../otlp/encode-request.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import { EMPTY_SPAN, type Span } from "../otlp/span.ts";
import { decode, decompress } from "../receive/decode-body.ts";
import { inTurns } from "../receive/in-turns.ts";
import { createRedactor, type Redactor, type RedactorOptions } from "../redact/redact.ts";
import { matches } from "../sample/span-match.ts";
import { drawTrace } from "../sample/trace-sampler.ts";
import { createTranslator, type Translate } from "../translate/translate.ts";
import type { ForwardRequest } from "./forward-request.ts";
import type { Destination } from "./forward-schema.ts";

export interface ShapedRequest {
  readonly format: ForwardRequest["format"];
  readonly body: Buffer;
}

/** null: nothing is left of it. @throws {Error} when it cannot be shaped */
export type ShapeRequest = (request: ForwardRequest) => Promise<ShapedRequest | null>;

interface Shaping {
  readonly destination: Destination;
  /** TRACING_PROJECT. */
  readonly project: string;
  readonly redactor: Redactor | null;
  readonly translate: Translate;
  readonly normalize: NormalizeSpan | null;
}

const LIMITS = { bytesMax: Infinity, grow: (): boolean => true };
const ITEMS_A_TURN = 64;

/** null: the destination gets requests as they came. @throws {Error} for a pattern that RE2 does not accept. */
export function createShaper(destination: Destination, options: RedactorOptions): ShapeRequest | null {
  const { drop, normalize, only, projects, protocol, redact, sample } = destination;
  const selects = [drop, only, projects, sample].some((rule) => rule !== undefined);
  if (!selects && redact === undefined && normalize === undefined && protocol === "http") return null;
  const shaping: Shaping = {
    destination,
    project: options.project,
    redactor: redact === undefined ? null : createRedactor(redact, options),
    translate: createTranslator({
      filterNonGenAi: only === "gen_ai",
      project: options.project,
      inlineMedia: true,
      drop: drop ?? [],
    }),
    normalize: normalize === undefined ? null : createNormalizer(),
  };
  const rewrites = selects || normalize !== undefined;
  return async (request) => {
    const plain = await decompress(request.wire, request.encoding, LIMITS);
    const body = await redacted(shaping, request, { format: request.format, body: plain });
    const isSignalOfItems = request.signal !== "metrics";
    if (!isSignalOfItems) return isOfProjects(shaping, request.project) ? { format: request.format, body } : null;
    if (!rewrites && (protocol === "http" || request.format === "protobuf")) return { format: request.format, body };
    const made = await rewritten(shaping, request, body);
    if (made === null || normalize === undefined) return made;
    return { ...made, body: await redacted(shaping, request, made) };
  };
}

async function redacted(
  { redactor }: Shaping,
  { project, signal, tenantId }: ForwardRequest,
  { body, format }: ShapedRequest,
): Promise<Buffer> {
  if (redactor === null) return body;
  return await inTurns(redactor.redact({ body, format, signal, project, tenantId }));
}

function isOfProjects({ destination, project }: Shaping, given: string): boolean {
  return destination.projects?.includes(given || project) !== false;
}

async function rewritten(shaping: Shaping, request: ForwardRequest, body: Buffer): Promise<ShapedRequest | null> {
  const signal = request.signal === "logs" ? "logs" : "traces";
  const { records, spans } = await decode(body, request.format, signal);
  const kept =
    signal === "logs" ? await keepRecords(shaping, request, records) : await keepSpans(shaping, request, spans);
  return kept === null ? null : { format: "protobuf", body: kept };
}

async function keepSpans(shaping: Shaping, request: ForwardRequest, spans: readonly Span[]): Promise<Buffer | null> {
  const { normalize } = shaping;
  const kept: Span[] = [];
  /** Parents of the spans that only their own names or attributes left out. */
  const parents = new Map<string, string>();
  for (const [at, span] of spans.entries()) {
    if (at % ITEMS_A_TURN === ITEMS_A_TURN - 1) await nextTurn();
    const verdict = judge(shaping, request, span);
    if (verdict === "left out") parents.set(buildSpanKey(span, span.spanId), span.parentSpanId);
    else if (verdict === "kept") kept.push(normalize === null ? span : normalize(span));
  }
  if (kept.length === 0) return null;
  return encodeSpans(kept.map((span) => ({ ...span, parentSpanId: nearestKept(span, parents) })));
}

function buildSpanKey({ traceId }: Span, spanId: string): string {
  return traceId + spanId;
}

/** The nearest ancestor that is not left out, as far as this request has them. */
function nearestKept(span: Span, parents: ReadonlyMap<string, string>): string {
  let parent = span.parentSpanId;
  for (let steps = 0; steps <= parents.size; steps++) {
    const above = parents.get(buildSpanKey(span, parent));
    if (above === undefined) return parent;
    parent = above;
  }
  return ""; // a circle
}

type Verdict = "kept" | "left out" | "not its trace";

function judge({ destination, translate }: Shaping, request: ForwardRequest, span: Span): Verdict {
  const { drop, only, projects, sample } = destination;
  if (sample !== undefined && drawTrace(span.traceId) >= sample.rate) return "not its trace";
  if (drop === undefined && only === undefined && projects === undefined) return "kept";
  const { content } = translate(span, buildContext(request));
  if (content === null) return "left out";
  return projects?.includes(content.sessionName) === false ? "not its trace" : "kept";
}

function buildContext({ project }: ForwardRequest): Parameters<Translate>[1] {
  return { tenant: { id: "", apiKey: "", tenantId: "" }, project, receivedMs: 0 };
}

async function keepRecords(
  shaping: Shaping,
  request: ForwardRequest,
  records: readonly LogRecord[],
): Promise<Buffer | null> {
  const kept: LogRecord[] = [];
  for (const [at, record] of records.entries()) {
    if (at % ITEMS_A_TURN === ITEMS_A_TURN - 1) await nextTurn();
    if (isKept(shaping, request, record)) kept.push(record);
  }
  return kept.length === 0 ? null : encodeRecords(kept);
}

function isKept({ destination, project, translate }: Shaping, request: ForwardRequest, record: LogRecord): boolean {
  const { drop = [], only, projects, sample } = destination;
  const { traceId } = record;
  if (sample !== undefined && traceId !== "" && drawTrace(traceId) >= sample.rate) return false;
  if (only !== undefined && classifyRecord(record) === "other") return false;
  if (drop.some((rule) => matches(rule, record))) return false;
  if (projects === undefined) return true;
  // A span with its attributes and resource is of the same project.
  const like: Span = { ...EMPTY_SPAN, name: "gen_ai", attributes: record.attributes, resource: record.resource };
  return projects.includes(translate(like, buildContext(request)).content?.sessionName ?? (request.project || project));
}
