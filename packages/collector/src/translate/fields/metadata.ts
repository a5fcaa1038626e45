// Metadata: everything of a span that is neither conversation nor tokens, under extra.metadata.
// Invariants:
//   - A user's name never replaces a name that the backend reads: reserved names come first and stay. The value that
//     lost goes to otel.attributes.
//   - Attributes that other fields used are absent here; all other attributes are present. So this is the last rule
//     that reads a span.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { AttributeValue, Resource, SpanLink } from "../../otlp/span.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { ObjectWriter } from "../attributes/json-writer.ts";
import { listDestinations } from "./destinations.ts";
import { leftoversText } from "./leftovers.ts";
import type { Model } from "./model.ts";
import { isObject, toJson, plain, plainAttributes } from "../attributes/plain-values.ts";
import { THREAD, THREAD_NAMES, USER, METADATA_OBJECTS, COPIED, NAMED_FAMILIES } from "../attributes/metadata-keys.ts";
import { type NamedTexts, NO_TEXTS, resourceTexts, scopeText } from "../attributes/resource-texts.ts";

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
  /** Inputs, outputs, parameters and model of the run. */
  readonly said: string;
}

export function formatMetadata(facts: Facts, parts: MetadataParts): string {
  const { span } = facts;
  const { model, usage } = parts;
  const out = new ObjectWriter();
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
    if (!facts.has(from) || out.has(name)) continue; // with a taken name the attribute stays unused
    const value = facts.value(from);
    if (value !== undefined) out.put(name, listOrPlain(value));
  }
  const resource = putResource(out, span.resource);
  out.putReserved("otel", otelText(facts, { parts, lost, resource }));
  return out.text();
}

/** Senders whose attributes have no lists write `["stop"]`. */
function listOrPlain(value: AttributeValue): Json {
  const read = typeof value === "string" && value.startsWith("[") ? toJson(value) : null;
  return Array.isArray(read) ? read : plain(value);
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
      const read = unquoted(toJson(value), value);
      if (out.has(rest)) lost.push([prefix + rest, read]);
      else out.put(rest, read);
    }
  }
  for (const [from, key] of METADATA_OBJECTS) {
    const given = facts.value(from);
    if (given === undefined) continue;
    const value = toJson(given);
    if (!isObject(value)) put(out, { name: key, key, value }, lost); // some write it as Python prints a dict: kept as text
    else for (const [name, item] of Object.entries(value)) put(out, { name, key: `${key}.${name}`, value: item }, lost);
  }
}

/** Returns the attributes whose names the metadata already has. */
function putResource(out: ObjectWriter, resource: Resource): NamedTexts {
  const { texts, members } = resourceTexts(resource);
  if (members !== null && !texts.some(([name]) => out.has(name))) {
    out.putMembers(members);
    return NO_TEXTS;
  }
  let moved: (readonly [string, string])[] | null = null;
  for (const one of texts) {
    const [name, text] = one;
    if (!out.has(name)) out.putText(name, text);
    else (moved ??= []).push(one);
  }
  return moved ?? NO_TEXTS;
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
  const out = new ObjectWriter();
  if (span.parentSpanId !== "") out.putText("parent_span_id", `"${span.parentSpanId}"`);
  const kind = KIND_NAMES[span.kind];
  if (kind !== undefined && kind !== "") out.putText("kind", `"${kind}"`);
  const scope = scopeText(span.scope);
  if (scope !== "{}") out.putText("scope", scope);
  if (span.traceState !== "") out.put("trace_state", span.traceState.toWellFormed());
  if (span.statusCode !== 2 && span.statusMessage !== "") out.put("status_message", span.statusMessage.toWellFormed());
  if (span.links.length > 0) out.put("links", span.links.map(toLinkMembers));
  putCount(out, "dropped_attributes_count", span.droppedAttributes);
  putCount(out, "dropped_events_count", span.droppedEvents);
  putCount(out, "dropped_links_count", span.droppedLinks);
  if (parts.timeFromArrival) out.put("time", "arrival");
  if (resource.length > 0) out.putText("resource", objectText(resource));
  const rest = leftoversText(facts, lost, parts.said);
  if (rest !== "") out.putText("attributes", rest);
  if (parts.explain)
    out.put(
      "fields",
      Object.fromEntries(listDestinations(facts, parts.said).map((one) => [one.attribute.toWellFormed(), one.fields])),
    );
  return out.text();
}

function objectText(members: NamedTexts): string {
  const out = new ObjectWriter();
  for (const [name, text] of members) out.putText(name, text);
  return out.text();
}

function putCount(out: ObjectWriter, name: string, count: number): void {
  if (count > 0) out.put(name, count);
}

function toLinkMembers(link: SpanLink): JsonObject {
  return {
    trace_id: link.traceId,
    span_id: link.spanId,
    ...(link.traceState === "" ? {} : { trace_state: link.traceState.toWellFormed() }),
    ...(link.attributes.keys.length === 0 ? {} : { attributes: plainAttributes(link.attributes) }),
    ...(link.droppedAttributes === 0 ? {} : { dropped_attributes_count: link.droppedAttributes }),
  };
}
