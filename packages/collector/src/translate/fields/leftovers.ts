// Leftovers: attributes that no rule used. The run carries them whole, as extra.metadata.otel.attributes. Invariants:
//   - An attribute is absent only when a rule used it or an alias with the same value, or when it is transport noise:
//     an SDK's ids for placing its run, and the encoding of its attributes.
//   - JSON under a known name is absent when the inputs, outputs, parameters and model have every text and number of
//     it.
//   - A text of COMPARED_CHARS or more under a known name is absent when a used attribute has the same text.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { AttributeValue } from "../../otlp/span.ts";
import { ObjectWriter } from "../attributes/json-writer.ts";
import { buildMask } from "../attributes/attribute-uses.ts";
import { listAliases, type KeyPlan, signs } from "../attributes/known-keys.ts";
import { plain } from "../attributes/plain-values.ts";
import { isWithin } from "../attributes/said.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { contentWithin } from "../forms/python-text.ts";

const NOISE: ReadonlySet<string> = new Set([
  "langsmith.is_root",
  "langsmith.root_span",
  "langsmith.span.dotted_order",
  "langsmith.span.parent_id",
  "langsmith.traceable_parent_otel_span_id",
  "logfire.json_schema",
  "logfire.pending_parent_id",
]);

const COMPARED_CHARS = 16;
const SAID_CHARS_MAX = 1_000_000;

/** JSON text of an object, "" for none. `more` holds values of metadata whose name was taken. */
export function leftoversText(facts: Facts, more: readonly (readonly [string, Json])[], said: string): string {
  const unused: Unused[] = [];
  facts.eachUse((key, value, plan, fields) => {
    if (!isUsed(plan, fields)) unused.push({ key, value, plan });
  });
  if (unused.length === 0 && more.length === 0) return "";
  const used = usedTexts(facts);
  const kept = unused.filter((one) => decideFate(facts, one, used, said) === "kept");
  if (kept.length === 0 && more.length === 0) return "";
  const out = new ObjectWriter();
  for (const [key, value] of new Map(kept.map((one) => [one.key, one.value]))) out.put(key, plain(value)); // of a repeated key the last value counts
  for (const [name, value] of more) out.put(name, value);
  return out.text();
}

/** A whole history: the inputs take the part before the answer, the outputs the answer. */
const SPLIT: ReadonlySet<number> = new Set(signs("pydantic_ai.all_messages", "all_messages_events").slots);
const BOTH_SIDES = buildMask("inputs", "outputs");

/** An attribute of which a part is in no field counts as unused. */
export function isUsed({ slot }: KeyPlan, fields: number): boolean {
  return fields !== 0 && (!SPLIT.has(slot) || (fields & BOTH_SIDES) === BOTH_SIDES);
}

export type Fate = "kept" | "noise" | "same value";

interface Unused {
  readonly key: string;
  readonly value: AttributeValue;
  readonly plan: KeyPlan;
}

/** @param said inputs, outputs, parameters and model of the run */
export function decideFate(
  facts: Facts,
  { key, value, plan }: Unused,
  used: () => ReadonlySet<string>,
  said: string,
): Fate {
  if (NOISE.has(key)) return "noise";
  if (plan.slot < 0 || value === null) return "kept";
  for (const slot of listAliases(plan.slot))
    if (facts.slotFields(slot) !== 0 && same(facts.slotValue(slot), value)) return "same value";
  if (typeof value !== "string" || value.length < COMPARED_CHARS) return "kept";
  return used().has(value) || isSaid(value, said) ? "same value" : "kept";
}

/** JSON whose every text and number is in the content of the run, whatever its form. */
function isSaid(text: string, said: string): boolean {
  if (said === "" || text.length > SAID_CHARS_MAX) return false;
  if (!/^\s*[[{]/.test(text)) return said.includes(JSON.stringify(text).slice(1, -1));
  const value = contentWithin(text);
  return typeof value === "object" && hasText(value) && isWithin(value, said);
}

function hasText(value: Json): boolean {
  if (typeof value === "string") return value.length >= COMPARED_CHARS;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value as JsonObject).some(hasText);
}

/** Long texts of the known attributes that rules used; collected on first use. */
export function usedTexts(facts: Facts): () => ReadonlySet<string> {
  let texts: Set<string> | null = null;
  return () => {
    if (texts !== null) return texts;
    const found = new Set<string>();
    facts.eachUse((_key, value, plan, fields) => {
      if (fields !== 0 && plan.slot >= 0 && typeof value === "string" && value.length >= COMPARED_CHARS)
        found.add(value);
    });
    texts = found;
    return found;
  };
}

function same(a: AttributeValue | undefined, b: AttributeValue): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && JSON.stringify(plain(a)) === JSON.stringify(plain(b)));
}
