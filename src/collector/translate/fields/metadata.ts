// Metadata: everything of a span that is neither conversation nor tokens, under extra.metadata.
// Invariants:
//   metadata.1. A user's name never replaces a name that the backend reads: reserved names come first and stay. The
//        value that lost goes to otel.attributes.
//   metadata.2. Resource and scope become text once per envelope, not once per span.
//   metadata.3. Attributes that other fields used are absent here; all other attributes are present (leftovers.1). So
//        this is the last rule that reads a span.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import type { Attributes, Resource, Scope, Span, SpanLink } from "../../otlp/span.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { sources, type Sources } from "../attributes/known-keys.ts";
import { createObjectWriter, membersText, type ObjectWriter } from "../attributes/json-writer.ts";
import { destinationsOf } from "./destinations.ts";
import { leftoversText } from "./leftovers.ts";
import type { Model } from "./model.ts";
import { isObject, jsonOf, plain, plainAttributes } from "../attributes/plain-values.ts";

const THREAD = sources(
  "gen_ai.conversation.id",
  "session.id",
  "gcp.vertex.agent.session_id",
  "ai.telemetry.metadata.sessionId",
  "ai.telemetry.metadata.threadId",
  "traceloop.association.properties.session_id",
  "traceloop.association.properties.thread_id",
  "traceloop.association.properties.chat_id",
  "langfuse.session.id",
  "ai.settings.context.sessionId",
  "ai.settings.context.threadId",
  "mastra.metadata.threadId",
  "mastra.metadata.sessionId",
);
const THREAD_NAMES = ["thread_id", "session_id", "conversation_id"];
const USER = sources(
  "user.id",
  "enduser.id",
  "ai.telemetry.metadata.userId",
  "traceloop.association.properties.user_id",
  "langfuse.user.id",
  "ai.settings.context.userId",
  "mastra.metadata.userId",
);
const METADATA_OBJECTS = ["metadata", "langfuse.observation.metadata", "langfuse.trace.metadata"].map(
  (name) => [sources(name), name] as const,
);

/** name in the metadata → attribute, copied as it is. */
const COPIED: readonly (readonly [string, Sources])[] = [
  ["agent_id", sources("gen_ai.agent.id")],
  ["agent_name", sources("gen_ai.agent.name", "agent.name")],
  ["agent_description", sources("gen_ai.agent.description")],
  ["agent_version", sources("gen_ai.agent.version")],
  ["workflow_name", sources("gen_ai.workflow.name", "traceloop.workflow.name")],
  ["response_id", sources("gen_ai.response.id", "ai.response.id")],
  [
    "finish_reasons",
    sources(
      "gen_ai.response.finish_reasons",
      "ai.response.finishReason",
      "llm.response.finish_reason",
      "llm.response.stop_reason",
      "llm.finish_reason",
      "gen_ai.response.finish_reason",
      "stop_reason",
    ),
  ],
  ["operation", sources("gen_ai.operation.name")],
  ["data_source_id", sources("gen_ai.data_source.id")],
  ["server.address", sources("server.address")],
  ["server.port", sources("server.port")],
  ["error.type", sources("error.type")],
  ["evaluation_name", sources("gen_ai.evaluation.name")],
  ["evaluation_score", sources("gen_ai.evaluation.score.value")],
  ["evaluation_label", sources("gen_ai.evaluation.score.label")],
  ["evaluation_explanation", sources("gen_ai.evaluation.explanation")],
  ["prompt_name", sources("gen_ai.prompt.name", "langfuse.observation.prompt.name")],
  ["prompt_version", sources("gen_ai.prompt.version", "langfuse.observation.prompt.version")],
  ["environment", sources("langfuse.environment")],
  ["release", sources("langfuse.release")],
  ["memory_store_id", sources("gen_ai.memory.store.id")],
  ["memory_record_id", sources("gen_ai.memory.record.id")],
  ["memory_record_count", sources("gen_ai.memory.record.count")],
  ["component_type", sources("haystack.component.type")],
  ["mcp.method.name", sources("mcp.method.name")],
  ["mcp.session.id", sources("mcp.session.id")],
  ["mcp.protocol.version", sources("mcp.protocol.version")],
  ["mcp.resource.uri", sources("mcp.resource.uri")],
  ["jsonrpc.request.id", sources("jsonrpc.request.id")],
  ["jsonrpc.protocol.version", sources("jsonrpc.protocol.version")],
];

const KIND_NAMES = ["", "internal", "server", "client", "producer", "consumer"] as const;

export interface MetadataParts {
  readonly model: Model;
  readonly usage: JsonObject | null;
  /** Usage of an agent or workflow: a sum over its children, which the backend must not charge again. */
  readonly usageIsSum: boolean;
  /** The span had no time. */
  readonly timeFromArrival: boolean;
  /** Adds `otel.fields`: the destination of every attribute. */
  readonly explain: boolean;
}

export function metadataOf(facts: Facts, parts: MetadataParts): string {
  const { span } = facts;
  const { model, usage } = parts;
  const out = createObjectWriter();
  out.putText("OTEL_TRACE_ID", `"${span.traceId}"`);
  out.putText("OTEL_SPAN_ID", `"${span.spanId}"`);
  if (model.provider !== "") out.put("ls_provider", model.provider.toWellFormed());
  if (model.name !== "") out.put("ls_model_name", model.name.toWellFormed());
  if (model.type !== "") out.put("ls_model_type", model.type.toWellFormed());
  if (usage !== null) out.put(parts.usageIsSum ? "aggregate_usage" : "usage_metadata", usage);
  out.reserve("otel");
  const lost: Lost = [];
  putNamed(out, facts, lost);
  if (!THREAD_NAMES.some((name) => out.has(name))) putText(out, "thread_id", facts.text(THREAD));
  if (!out.has("user_id")) putText(out, "user_id", facts.text(USER));
  if (model.rawProvider !== "") out.put("otel_provider", model.rawProvider.toWellFormed());
  for (const [name, from] of COPIED) {
    if (!facts.has(from) || out.has(name)) continue; // with a taken name the attribute stays unused (metadata.3)
    const value = facts.value(from);
    if (value !== undefined) out.put(name, plain(value));
  }
  const resource = putResource(out, span.resource);
  out.putReserved("otel", otelText(facts, { parts, lost, resource }));
  return out.text();
}

/** Names and values that found their name taken. */
type Lost = (readonly [string, Json])[];

interface Named {
  readonly name: string;
  /** The attribute's own name. */
  readonly key: string;
  readonly value: Json;
}

function put(out: ObjectWriter, { name, key, value }: Named, lost: Lost): void {
  if (out.has(name)) lost.push([key, value]);
  else out.put(name, value);
}

function putText(out: ObjectWriter, name: string, value: string): void {
  if (value !== "") out.put(name, value.toWellFormed());
}

/** Attributes that users attach: JSON text of objects or lists becomes a value, other text stays text. */
function putNamed(out: ObjectWriter, facts: Facts, lost: Lost): void {
  for (const { family, prefix, elsewhere } of NAMED_FAMILIES) {
    if (facts.familySize(family) === 0) continue;
    for (const { rest, value } of facts.family(family)) {
      const slot = elsewhere.get(rest);
      if (slot !== undefined && facts.slotFields(slot) !== 0) continue;
      const read = unquoted(jsonOf(value), value);
      if (out.has(rest)) lost.push([prefix + rest, read]);
      else out.put(rest, read);
    }
  }
  for (const [from, key] of METADATA_OBJECTS) {
    const given = facts.value(from);
    if (given === undefined) continue;
    const value = jsonOf(given);
    if (!isObject(value)) put(out, { name: key, key, value }, lost); // some write it as Python prints a dict: kept as text
    else for (const [name, item] of Object.entries(value)) put(out, { name, key: `${key}.${name}`, value: item }, lost);
  }
}

/** Members of a family that other rules read, as slots by name. */
function readElsewhere(prefix: string, ...names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name) => [name, sources(prefix + name).slots[0] ?? -1]));
}

const NAMED_FAMILIES = (
  [
    [
      "metadata",
      "langsmith.metadata.",
      "ls_provider",
      "ls_model_name",
      "ls_model_type",
      "ls_run_name",
      "usage_metadata",
    ],
    ["association", "traceloop.association.properties."],
    ["telemetry", "ai.telemetry.metadata.", "tags", "ls_project_name", "ls_project_id"],
    ["context", "ai.settings.context."],
    ["observation", "langfuse.observation.metadata."],
    ["trace", "langfuse.trace.metadata."],
    ["mastra", "mastra.metadata."],
  ] as const
).map(([family, prefix, ...names]) => ({ family, prefix, elsewhere: readElsewhere(prefix, ...names) }));

/** Returns the attributes whose names the metadata already has. */
function putResource(out: ObjectWriter, resource: Resource): NamedTexts {
  const { texts, members } = resourceTexts(resource);
  if (members !== null && !texts.some(([name]) => out.has(name))) {
    out.putMembers(members);
    return NO_TEXTS;
  }
  let taken: (readonly [string, string])[] | null = null;
  for (const one of texts) {
    const [name, text] = one;
    if (!out.has(name)) out.putText(name, text);
    else (taken ??= []).push(one);
  }
  return taken ?? NO_TEXTS;
}

/** Parses only objects and lists: quotes around a string are part of the text. */
function unquoted(read: Json, value: unknown): Json {
  return typeof read === "string" && typeof value === "string" ? value.toWellFormed() : read;
}

interface OtelParts {
  readonly parts: MetadataParts;
  readonly lost: Lost;
  readonly resource: NamedTexts;
}

function otelText(facts: Facts, { parts, lost, resource }: OtelParts): string {
  const { span } = facts;
  const out = createObjectWriter();
  if (span.parentSpanId !== "") out.putText("parent_span_id", `"${span.parentSpanId}"`);
  const kind = KIND_NAMES[span.kind];
  if (kind !== undefined && kind !== "") out.putText("kind", `"${kind}"`);
  const scope = scopeText(span.scope);
  if (scope !== "{}") out.putText("scope", scope);
  if (span.traceState !== "") out.put("trace_state", span.traceState.toWellFormed());
  if (span.statusCode !== 2 && span.statusMessage !== "") out.put("status_message", span.statusMessage.toWellFormed());
  if (span.links.length > 0) out.put("links", span.links.map(linkOf));
  putCount(out, "dropped_attributes_count", span.droppedAttributes);
  putCount(out, "dropped_events_count", span.droppedEvents);
  putCount(out, "dropped_links_count", span.droppedLinks);
  if (parts.timeFromArrival) out.put("time", "arrival");
  if (resource.length > 0) out.putText("resource", objectText(resource));
  const rest = leftoversText(facts, lost);
  if (rest !== "") out.putText("attributes", rest);
  if (parts.explain)
    out.put(
      "fields",
      Object.fromEntries(destinationsOf(facts).map((one) => [one.attribute.toWellFormed(), one.fields])),
    );
  return out.text();
}

function objectText(members: NamedTexts): string {
  const out = createObjectWriter();
  for (const [name, text] of members) out.putText(name, text);
  return out.text();
}

function putCount(out: ObjectWriter, name: string, count: number): void {
  if (count > 0) out.put(name, count);
}

function linkOf(link: SpanLink): JsonObject {
  return {
    trace_id: link.traceId,
    span_id: link.spanId,
    ...(link.traceState === "" ? {} : { trace_state: link.traceState.toWellFormed() }),
    ...(link.attributes.keys.length === 0 ? {} : { attributes: plainAttributes(link.attributes) }),
    ...(link.droppedAttributes === 0 ? {} : { dropped_attributes_count: link.droppedAttributes }),
  };
}

type NamedTexts = readonly (readonly [string, string])[];

interface ResourceTexts {
  readonly texts: NamedTexts;
  /** All of them as members of an object; null when a name repeats. */
  readonly members: string | null;
}

const NO_TEXTS: NamedTexts = [];

/** Spans of one envelope come one after the other; senders that put one span into a request repeat their resource. */
const recent: { readonly attributes: Attributes; readonly texts: ResourceTexts }[] = [];
const RECENT_MAX = 4;
const RECENT_ATTRIBUTES_MAX = 64;
const RECENT_CHARS_MAX = 16_384;

let lastResource: Resource | null = null;
let lastTexts: ResourceTexts = { texts: NO_TEXTS, members: "" };

function resourceTexts(resource: Resource): ResourceTexts {
  if (resource !== lastResource) {
    const { attributes } = resource;
    lastTexts = recent.find((one) => sameAttributes(one.attributes, attributes))?.texts ?? newTexts(attributes);
    lastResource = resource; // metadata.2
  }
  return lastTexts;
}

function newTexts(attributes: Attributes): ResourceTexts {
  const { keys, values } = attributes;
  let chars = 0;
  const named = keys.map((key, at): [string, string] => {
    const text = JSON.stringify(plain(values[at] ?? null));
    chars += key.length + text.length;
    return [key, text];
  });
  const texts = { texts: named, members: new Set(keys).size === keys.length ? membersText(named) : null };
  if (keys.length <= RECENT_ATTRIBUTES_MAX && chars <= RECENT_CHARS_MAX) {
    if (recent.length >= RECENT_MAX) recent.shift();
    recent.push({ attributes, texts });
  }
  return texts;
}

/** Lists and maps are never the same, so that this stays cheap. */
function sameAttributes(a: Attributes, b: Attributes): boolean {
  if (a.keys.length !== b.keys.length) return false;
  for (let at = 0; at < a.keys.length; at++)
    if (a.values[at] !== b.values[at] || a.keys[at] !== b.keys[at]) return false;
  return true;
}

let lastScope: Scope | null = null;
let lastScopeText = "";

function scopeText(scope: Scope): string {
  if (scope === lastScope) return lastScopeText;
  const same =
    lastScope !== null &&
    scope.attributes.keys.length + lastScope.attributes.keys.length === 0 &&
    scope.name === lastScope.name &&
    scope.version === lastScope.version;
  lastScope = scope;
  if (same) return lastScopeText;
  const out = createObjectWriter();
  if (scope.name !== "") out.put("name", scope.name.toWellFormed());
  if (scope.version !== "") out.put("version", scope.version.toWellFormed());
  if (scope.attributes.keys.length > 0) out.put("attributes", plainAttributes(scope.attributes));
  lastScopeText = out.text();
  return lastScopeText;
}

let lastNamed: { readonly resource: Resource; readonly names: readonly string[]; readonly text: string } | null = null;

/** The first text among `names` in the resource: a service can set its project. */
export function resourceText({ resource }: Span, names: readonly string[]): string {
  if (lastNamed?.resource !== resource || lastNamed.names !== names)
    lastNamed = { resource, names, text: firstText(resource.attributes, names) }; // metadata.2
  return lastNamed.text;
}

function firstText({ keys, values }: Attributes, names: readonly string[]): string {
  for (const name of names) {
    const value = values[keys.lastIndexOf(name)];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}
