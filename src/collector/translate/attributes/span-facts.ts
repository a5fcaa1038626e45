// Facts: one span's attributes, sorted into slots and families in a single pass. The rules read from here and nowhere else.
// Invariants:
//   span-facts.1. One set of slots serves all spans, one after the other: translation allocates no index per span.
//   span-facts.2. A span contributes at most ENTRIES_MAX entries to its families; of a key that repeats the last value counts.
import type { Json } from "../../../base/json/json.ts";
import type { Attributes, AttributeValue, Span } from "../../otlp/span.ts";
import { type Count, countOf } from "./token-count.ts";
import { FAMILY_NAMES, planOf, slotCount, type Family, type Sources } from "./known-keys.ts";
import { plain } from "./plain-values.ts";

export interface FamilyEntry {
  readonly index: number;
  readonly rest: string;
  readonly value: AttributeValue;
}

export interface Facts {
  readonly span: Span;
  /** First source that is present and not null. */
  value(sources: Sources): AttributeValue | undefined;
  /** First source that is a non-empty string. */
  text(sources: Sources): string;
  /** First source that is present and a count. */
  count(sources: Sources): Count | undefined;
  has(sources: Sources): boolean;
  family(name: Family): readonly FamilyEntry[];
  /** Attributes that no rule knows, gathered only when asked for. */
  leftovers(): Json | null;
  /** True when an attribute's name alone says so. */
  isGenAi(): boolean;
}

const ENTRIES_MAX = 10_000;

export interface FactsReader {
  read(span: Span): Facts;
}

/** The returned facts are valid until the next `read` (span-facts.1). */
export function createFactsReader(): FactsReader {
  const slots: (AttributeValue | undefined)[] = Array.from({ length: slotCount() }, () => undefined);
  const families = new Map<Family, FamilyEntry[]>(FAMILY_NAMES.map((name) => [name, []]));
  const touched: number[] = [];
  const touchedFamilies: FamilyEntry[][] = [];
  let entries = 0;
  let genAi = false;
  let span: Span | null = null;

  function sort({ keys, values }: Attributes): void {
    for (let at = 0; at < keys.length; at++) {
      const value = values[at];
      if (value === undefined || value === null) continue;
      const plan = planOf(keys[at] ?? "");
      if (plan.genAi) genAi = true;
      if (plan.slot >= 0) {
        slots[plan.slot] = value;
        touched.push(plan.slot);
      }
      if (plan.family === null || entries >= ENTRIES_MAX) continue;
      const list = families.get(plan.family);
      if (list === undefined) continue;
      if (list.length === 0) touchedFamilies.push(list);
      list.push({ index: plan.index, rest: plan.rest, value });
      entries += 1;
    }
  }

  const facts: Facts = {
    get span() {
      if (span === null) throw new Error("facts are read before a span is");
      return span;
    },
    value(sources) {
      for (const slot of sources) {
        const value = slots[slot];
        if (value !== undefined) return value;
      }
      return undefined;
    },
    text(sources) {
      for (const slot of sources) {
        const value = slots[slot];
        if (typeof value === "string" && value !== "") return value;
      }
      return "";
    },
    count(sources) {
      for (const slot of sources) {
        const value = slots[slot];
        const number = value === undefined ? undefined : countOf(value);
        if (number !== undefined) return number;
      }
      return undefined;
    },
    has: (sources) => sources.some((slot) => slots[slot] !== undefined),
    family: (name) => families.get(name) ?? [],
    leftovers() {
      const { keys, values } = facts.span.attributes;
      const rest: [string, Json][] = [];
      for (const [at, key] of keys.entries()) {
        const plan = planOf(key);
        if (plan.slot < 0 && plan.family === null) rest.push([key.toWellFormed(), plain(values[at] ?? null)]);
      }
      return rest.length === 0 ? null : Object.fromEntries(rest);
    },
    isGenAi: () => genAi,
  };

  return {
    read(next) {
      for (const slot of touched) slots[slot] = undefined;
      for (const list of touchedFamilies) list.length = 0;
      touched.length = 0;
      touchedFamilies.length = 0;
      entries = 0;
      genAi = false;
      span = next;
      sort(next.attributes);
      return facts;
    },
  };
}
