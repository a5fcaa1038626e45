// Test kit: a span written as its instrumentation emits it, and the run it must become. Used by the tables of cases
// only.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import {
  NO_ATTRIBUTES,
  type Attributes,
  type AttributeValue,
  type Span,
  type SpanLink,
  type UnixNano,
} from "../otlp/span.ts";
import type { RequestContext, RunContent, UnplacedRun } from "../shared/trace-run.ts";
import { createTranslator, type TranslateOptions } from "./translate.ts";

export type Given = Readonly<Record<string, AttributeValue>>;

interface GivenEvent {
  readonly name: string;
  readonly at?: number;
  readonly attributes?: Given;
}

export interface GivenSpan {
  readonly name?: string;
  readonly scope?: string;
  readonly parent?: string;
  readonly kind?: number;
  readonly status?: readonly [code: number, message: string];
  readonly attributes?: Given;
  readonly resource?: Given;
  readonly events?: readonly GivenEvent[];
  readonly links?: readonly SpanLink[];
  readonly start?: UnixNano;
  readonly end?: UnixNano;
}

/** Asserts only the named fields of the run, and of `metadata` and `params` only the named members. */
interface Wanted {
  readonly name?: string;
  readonly type?: RunContent["runType"];
  readonly inputs?: Json;
  readonly outputs?: Json;
  readonly params?: JsonObject;
  readonly metadata?: JsonObject;
  /** Members that must not be in the metadata. */
  readonly without?: readonly string[];
  readonly usage?: JsonObject | null;
  readonly error?: string;
  readonly events?: Json;
  readonly tags?: readonly string[];
  readonly project?: string;
}

export interface Case {
  readonly name: string;
  readonly span: GivenSpan;
  readonly run: Wanted;
  readonly options?: Partial<TranslateOptions>;
}

export const START: UnixNano = { sec: 1_763_715_600, nano: 123_456_789 };
export const CONTEXT: RequestContext = {
  tenant: { id: "tenant-a", apiKey: "key-a", tenantId: "" },
  project: "",
  receivedMs: 1_763_715_700_000,
};
const OPTIONS: TranslateOptions = { filterNonGenAi: false, project: "" };

function toAttributes(given: Given | undefined): Attributes {
  return given === undefined ? NO_ATTRIBUTES : { keys: Object.keys(given), values: Object.values(given) };
}

export function buildSpan(given: GivenSpan): Span {
  return {
    traceId: "5b8efff798038103d269b633813fc60c",
    spanId: "eee19b7ec3c1b174",
    parentSpanId: given.parent ?? "",
    traceState: "",
    flags: 1,
    name: given.name ?? "span",
    kind: given.kind ?? 1,
    start: given.start ?? START,
    end: given.end ?? { sec: START.sec + 1, nano: START.nano },
    attributes: toAttributes(given.attributes),
    events: (given.events ?? []).map((event, at) => ({
      name: event.name,
      time: { sec: START.sec, nano: event.at ?? at },
      attributes: toAttributes(event.attributes),
      droppedAttributes: 0,
    })),
    links: given.links ?? [],
    statusCode: given.status?.[0] ?? 0,
    statusMessage: given.status?.[1] ?? "",
    droppedAttributes: 0,
    droppedEvents: 0,
    droppedLinks: 0,
    resource: { attributes: toAttributes(given.resource) },
    scope: { name: given.scope ?? "", version: "1.0", attributes: NO_ATTRIBUTES },
  };
}

export function translated(
  given: GivenSpan,
  options: Partial<TranslateOptions> = {},
  context: Partial<RequestContext> = {},
): UnplacedRun {
  return createTranslator({ ...OPTIONS, ...options })(buildSpan(given), { ...CONTEXT, ...context });
}

export function translateContent(given: GivenSpan, options: Partial<TranslateOptions> = {}): RunContent {
  const { content } = translated(given, options);
  assert.ok(content !== null, "the span was filtered out");
  return content;
}

export function parsed(text: string): Json {
  return text === "" ? null : (JSON.parse(text) as Json);
}

export function parseExtra(content: RunContent): { readonly metadata: JsonObject; readonly params: JsonObject } {
  const extra = parsed(content.extra) as JsonObject;
  return { metadata: extra["metadata"] as JsonObject, params: (extra["invocation_params"] ?? {}) as JsonObject };
}

const collected: { cases: Case[] | null } = { cases: null };

/** The cases of all tables that the work defines, which defines no tests. */
export async function collectCases(work: () => Promise<void>): Promise<readonly Case[]> {
  const cases: Case[] = [];
  collected.cases = cases;
  await work();
  collected.cases = null;
  return cases;
}

/** One test a case. Each case parses the texts of the run, and so checks that they are JSON. */
export function table(cases: readonly Case[]): void {
  if (collected.cases !== null) return void collected.cases.push(...cases);
  for (const one of cases) test(one.name, () => assertRun(translateContent(one.span, one.options), one.run));
}

function assertRun(content: RunContent, wanted: Wanted): void {
  const { metadata, params } = parseExtra(content);
  const usage = metadata["usage_metadata"] ?? null;
  const { usage_metadata: repeated, ...outputs } = (parsed(content.outputs) ?? {}) as JsonObject;
  if (wanted.name !== undefined) assert.equal(content.name, wanted.name, "name");
  if (wanted.type !== undefined) assert.equal(content.runType, wanted.type, "type");
  if (wanted.inputs !== undefined) assert.deepEqual(parsed(content.inputs), wanted.inputs, "inputs");
  if (wanted.outputs !== undefined)
    assert.deepEqual(content.outputs === "" ? null : outputs, wanted.outputs, "outputs");
  if (wanted.usage !== undefined) {
    assert.deepEqual(usage, wanted.usage, "usage");
    if (content.outputs !== "" && wanted.usage !== null) assert.deepEqual(repeated, wanted.usage, "usage in outputs");
  }
  for (const [name, value] of Object.entries(wanted.metadata ?? {}))
    assert.deepEqual(metadata[name], value, `metadata.${name}`);
  for (const name of wanted.without ?? []) assert.equal(metadata[name], undefined, `metadata.${name}`);
  for (const [name, value] of Object.entries(wanted.params ?? {}))
    assert.deepEqual(params[name], value, `invocation_params.${name}`);
  if (wanted.error !== undefined) {
    assert.equal(content.error, wanted.error, "error");
    assert.equal(content.status, wanted.error === "" ? "success" : "error");
  }
  if (wanted.events !== undefined) assert.deepEqual(parsed(content.events), wanted.events, "events");
  if (wanted.tags !== undefined) assert.deepEqual(content.tags, wanted.tags, "tags");
  if (wanted.project !== undefined) assert.equal(content.sessionName, wanted.project, "project");
}
