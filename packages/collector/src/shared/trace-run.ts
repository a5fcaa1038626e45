// Trace run: the backend's record of one span. Translation creates the content, assembly adds the place in the trace,
// and the encoder writes both. Content is JSON text from here on: translation validates a sender's text once, later
// steps copy it. Invariants:
//   - Every `JsonText` is valid JSON, at most `JSON_DEPTH_MAX` deep, without lone surrogates; inputs and outputs are
//     objects.
//   - Translation is a pure function of (span, context): a replay produces the same bytes.
//   - A placed run keeps the five rules of `dotted_order`: see dotted-order.ts.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { UnixNano } from "../otlp/span.ts";
import type { SpanOrigin } from "./span-origin.ts";
import type { Tenant } from "./tenants.ts";

/** JSON as text, ready for the wire. */
type JsonText = string;

export type RunType = "tool" | "chain" | "llm" | "retriever" | "embedding" | "prompt" | "parser";

/**
 * Properties of the request that apply to all its spans. The spool stores them with the spans for an equal replay.
 */
export interface RequestContext {
  readonly tenant: Tenant;
  /** The `Tracing-Project` header, "" for none: takes precedence over every other source. */
  readonly project: string;
  /** Arrival of the request, ms since 1970: the time of spans without any time. */
  readonly receivedMs: number;
}

export interface Attachment {
  /** Without "." (the backend's part names use it as separator). */
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A run without its place. Absent optional text is "". */
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
  /** JSON object, or "" without recorded output. */
  readonly outputs: JsonText;
  /** JSON object {metadata, invocation_params?, …}. */
  readonly extra: JsonText;
  /** JSON array, or "". */
  readonly events: JsonText;
  /** JSON object, or "". */
  readonly serialized: JsonText;
  readonly tags: readonly string[];
  readonly sessionName: string;
  /** The id of an existing project: replaces the name when set. */
  readonly sessionId: string;
  readonly referenceExampleId: string;
  readonly attachments: readonly Attachment[];
  readonly call: CallFacts;
  /** Characters and attachment bytes of this content, for memory limits. */
  readonly size: number;
}

/** What the texts of a run say of its operation, for metrics and sums. Absent text is "". */
export interface CallFacts {
  /** As the sender names it. */
  readonly operation: string;
  readonly provider: string;
  /** The one that answered. */
  readonly model: string;
  readonly requestModel: string;
  /** The model completes a text, and is no chat. */
  readonly isCompletion: boolean;
  /** Duration of the span. Below 0 when the sender's clock was set back. */
  readonly seconds: number;
  /** Tokens and costs of this run alone; null for none, and for a sum over other runs. */
  readonly usage: JsonObject | null;
}

/** The content of a run that records nothing. */
export const PLAIN_CONTENT: RunContent = {
  name: "",
  runType: "chain",
  startTime: "",
  endTime: "",
  status: "success",
  error: "",
  inputs: "{}",
  outputs: "",
  extra: "{}",
  events: "",
  serialized: "",
  tags: [],
  sessionName: "default",
  sessionId: "",
  referenceExampleId: "",
  attachments: [],
  call: { operation: "", provider: "", model: "", requestModel: "", isCompletion: false, seconds: 0, usage: null },
  size: 0,
};

/** A translated span, before assembly. */
export interface UnplacedRun {
  readonly tenant: Tenant;
  readonly traceId: string;
  readonly spanId: string;
  /** "" for none. */
  readonly parentSpanId: string;
  readonly start: UnixNano;
  /** No parent, or declared as root by the sender. */
  readonly isRoot: boolean;
  /** Run ids of the sender's SDK; null for all other senders. */
  readonly declared: DeclaredIds | null;
  /** null: filtered out. Only its place matters, because its children attach to the nearest kept ancestor. */
  readonly content: RunContent | null;
  /** A drop rule filtered it out: log records about it go too. */
  readonly isDropped?: boolean;
  /** Content of a filtered span at the top: its name, times and project, for the empty root that it leaves behind. */
  readonly shell?: RunContent;
  /** What the sender says of the parent: a local one comes, a remote one may not. undefined: nothing. */
  readonly parentIs?: "local" | "remote" | undefined;
  /** The stored spans that this run stands for. The pipeline sets it in durable mode; empty in memory mode. */
  origins: readonly SpanOrigin[];
  /** Fingerprints of the log records in it, as the tree log keeps them: `span id #print`. */
  prints?: readonly string[];
}

/** Lower-case UUIDs, "" for none. Used only while they keep */
export interface DeclaredIds {
  readonly traceId: string;
  readonly runId: string;
  readonly dottedOrder: string;
}

/** A run with its place, ready for upload. */
export interface TraceRun {
  readonly tenant: Tenant;
  /** The source span: its ids for the decision record, its origins for the spool. */
  readonly span: Pick<UnplacedRun, "traceId" | "spanId" | "origins" | "prints">;
  readonly id: string;
  readonly traceId: string;
  /** "" for the root. */
  readonly parentRunId: string;
  readonly dottedOrder: string;
  /** Tells a repeat from a change, also after a restart. Absent: no span is behind it. */
  readonly fingerprint?: number | undefined;
  /** Its tokens, as twin-calls.ts writes them. */
  readonly counts?: string | undefined;
  /** True when an earlier upload of this span had different content: sent as `patch`. */
  readonly amends: boolean;
  /** No span is behind it: the collector adds it. */
  readonly isAdded?: boolean;
  readonly content: RunContent;
}

/** The place of a run in its tree, which outlives the content. */
export interface TraceRunPlace extends Pick<TraceRun, "dottedOrder" | "fingerprint" | "counts"> {
  readonly id: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly prints?: readonly string[] | undefined;
}

/** Deeper JSON stays text: JSON.stringify fails from about 4,000 levels, and real traces stay far below 128. */
export const JSON_DEPTH_MAX = 128;
