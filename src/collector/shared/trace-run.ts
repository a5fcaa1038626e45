// TraceRun: the backend's record of one span. Translation makes the content, assembly gives it a place in its tree,
// the encoder writes both. Content is JSON text from here on: what a sender wrote is checked once, then only copied.
// Invariants:
//   TR1. Every `JsonText` is valid JSON, at most `JSON_DEPTH_MAX` deep, without lone surrogates; inputs and outputs are objects.
//   TR2. Translation is a pure function of (span, context): a replay makes the same bytes.
//   TR3. A placed run keeps the five rules of `dotted_order`: see assemble.ts.
import type { UnixNano } from "../otlp/span.ts";
import type { SpanOrigin } from "./span-origin.ts";
import type { Tenant } from "./tenants.ts";

/** JSON as text, ready to be written to the wire. */
type JsonText = string;

export type RunType = "tool" | "chain" | "llm" | "retriever" | "embedding" | "prompt" | "parser";

/** What the request says about all its spans. The spool keeps it with the spans, so that a replay is the same (TR2). */
export interface RequestContext {
  readonly tenant: Tenant;
  /** The `Tracing-Project` header, "" for none: it beats every other source. */
  readonly project: string;
  /** When the request arrived, ms since 1970: stands in for spans without any time. */
  readonly receivedMs: number;
}

export interface Attachment {
  /** Without "." (the backend's part names use it as separator). */
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Everything of a run but its place. Absent optional text is "". */
export interface RunContent {
  readonly name: string;
  readonly runType: RunType;
  /** RFC 3339, UTC, nine fractional digits. */
  readonly startTime: string;
  readonly endTime: string;
  readonly status: "success" | "error";
  readonly error: string;
  /** JSON object. Never "": a run without recorded input has "{}". */
  readonly inputs: JsonText;
  /** JSON object, or "" when nothing was recorded. */
  readonly outputs: JsonText;
  /** JSON object {metadata, invocation_params?, …}. */
  readonly extra: JsonText;
  /** JSON array, or "". */
  readonly events: JsonText;
  /** JSON object, or "". */
  readonly serialized: JsonText;
  readonly tags: readonly string[];
  readonly sessionName: string;
  /** An existing project's id; when set it is sent instead of the name. */
  readonly sessionId: string;
  readonly referenceExampleId: string;
  readonly attachments: readonly Attachment[];
  /** Characters and attachment bytes held by this content: what a queue must count for it. */
  readonly size: number;
}

/** A translated span, before assembly. */
export interface UnplacedRun {
  readonly tenant: Tenant;
  readonly traceId: string;
  readonly spanId: string;
  /** "" for none. */
  readonly parentSpanId: string;
  readonly start: UnixNano;
  /** No parent, or the sender says that this is the root. */
  readonly isRoot: boolean;
  /** Ids that the sender's SDK gave the run itself; null for all other senders. */
  readonly claims: RunClaims | null;
  /** null: filtered out. Only its place matters, because its children attach to the nearest kept ancestor. */
  readonly content: RunContent | null;
  /** The stored spans that this run stands for. The pipeline sets it in durable mode; empty in memory mode. */
  origins: readonly SpanOrigin[];
}

/** Lower-case UUIDs, "" for none. Believed only as far as they keep TR3. */
export interface RunClaims {
  readonly traceId: string;
  readonly runId: string;
  readonly dottedOrder: string;
}

/** A run in its place, as it is uploaded. */
export interface TraceRun {
  readonly tenant: Tenant;
  /** The source span: its ids for the decision record, its origins for the spool. */
  readonly span: Pick<UnplacedRun, "traceId" | "spanId" | "origins">;
  readonly id: string;
  readonly traceId: string;
  /** "" for the root. */
  readonly parentRunId: string;
  readonly dottedOrder: string;
  /** True when this span was uploaded before with other content: sent as `patch`. */
  readonly amends: boolean;
  readonly content: RunContent;
}

/** What outlives the content of a run: its place in the tree. */
export interface TraceRunPlace {
  readonly id: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly dottedOrder: string;
}

/** Deeper JSON stays text: JSON.stringify fails from about 4,000 levels, and no honest trace comes near 128. */
export const JSON_DEPTH_MAX = 128;
