// Resource texts: resource and scope of a span as JSON text.
// Invariants:
//   - They become text once per envelope, not once per span.
import type { Attributes, Resource, Scope, Span } from "../../otlp/span.ts";
import { ObjectWriter, membersText } from "./json-writer.ts";
import { plain, plainAttributes } from "./plain-values.ts";

export type NamedTexts = readonly (readonly [string, string])[];

interface ResourceTexts {
  readonly texts: NamedTexts;
  /** All of them as members of an object; null when a name repeats. */
  readonly members: string | null;
}

export const NO_TEXTS: NamedTexts = [];

/** Spans of one envelope come one after the other; senders that put one span into a request repeat their resource. */
const recent: { readonly attributes: Attributes; readonly texts: ResourceTexts }[] = [];
const RECENT_MAX = 4;
const RECENT_ATTRIBUTES_MAX = 64;
const RECENT_CHARS_MAX = 16_384;

let lastResource: Resource | null = null;
let lastTexts: ResourceTexts = { texts: NO_TEXTS, members: "" };

export function resourceTexts(resource: Resource): ResourceTexts {
  if (resource !== lastResource) {
    const { attributes } = resource;
    lastTexts = recent.find((one) => sameAttributes(one.attributes, attributes))?.texts ?? newTexts(attributes);
    lastResource = resource;
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

export function scopeText(scope: Scope): string {
  if (scope === lastScope) return lastScopeText;
  const same =
    lastScope !== null &&
    scope.attributes.keys.length + lastScope.attributes.keys.length === 0 &&
    scope.name === lastScope.name &&
    scope.version === lastScope.version;
  lastScope = scope;
  if (same) return lastScopeText;
  const out = new ObjectWriter();
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
    lastNamed = { resource, names, text: firstText(resource.attributes, names) };
  return lastNamed.text;
}

function firstText({ keys, values }: Attributes, names: readonly string[]): string {
  for (const name of names) {
    const value = values[keys.lastIndexOf(name)];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}
