// Facts: one span's attributes, sorted into slots and families in a single pass. The rules read from here only.
// Invariants:
//   span-facts.1. One set of slots serves all spans, one after the other: translation allocates no index per span.
//   - A span contributes at most ENTRIES_MAX entries to its families; of a repeated key the last value counts.
//   - `value`, `text`, `count` and `family` record a use; `has`, `peek` and `familySize` do not.
//   - Attributes of an operation details event complete the span's own and never replace them.
import type { Attributes, AttributeValue, Span } from "../../otlp/span.ts";
import { type AttributeUses, createAttributeUses, type RunField } from "./attribute-uses.ts";
import { type Count, readCount } from "./exact-count.ts";
import { FAMILY_NAMES, listCount, findPlan, slotCount, type Family, type KeyPlan, type Sources } from "./known-keys.ts";

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
  /** Like `text`, but does not use the attribute. */
  peek(sources: Sources): string;
  family(name: Family): readonly FamilyEntry[];
  familySize(name: Family): number;
  /** Everything read from here on belongs to this field of the run. */
  enter(field: RunField): void;
  /** The present place in the list of uses, for `release`. */
  mark(): number;
  /** Takes back the uses since the mark: the rule that read the attributes yielded nothing. */
  release(mark: number): void;
  /** Every attribute, those of details events first. */
  eachUse(visit: VisitUse): void;
  /** The value of a slot, without a use. */
  slotValue(slot: number): AttributeValue | undefined;
  slotFields(slot: number): number;
  /** True when an attribute's name alone says so. */
  isGenAi(): boolean;
}

/** @param fields mask of the fields that use the attribute; 0: no rule used it */
export type VisitUse = (key: string, value: AttributeValue, plan: KeyPlan, fields: number) => void;

const ENTRIES_MAX = 10_000;

export interface FactsReader {
  /** @param details attributes of operation details events, if any */
  read(span: Span, details: readonly Attributes[]): Facts;
}

interface Slots {
  readonly values: (AttributeValue | undefined)[];
  readonly touched: number[];
  /** 1: the list has a slot with a value. By the list's number. */
  readonly lists: Uint8Array;
  readonly families: ReadonlyMap<Family, FamilyEntry[]>;
  readonly touchedFamilies: FamilyEntry[][];
  /** Plans of the span's own attributes, by position. */
  readonly plans: KeyPlan[];
  entries: number;
  genAi: boolean;
}

/** The returned facts are valid until the next `read` (span-facts.1). */
export function createFactsReader(): FactsReader {
  const count = slotCount();
  const uses = createAttributeUses(count + FAMILY_NAMES.length);
  const slots: Slots = {
    values: Array.from({ length: count }, () => undefined),
    touched: [],
    lists: new Uint8Array(listCount()),
    families: new Map<Family, FamilyEntry[]>(FAMILY_NAMES.map((name) => [name, []])),
    touchedFamilies: [],
    plans: [],
    entries: 0,
    genAi: false,
  };
  const state: { details: readonly Attributes[] } = { details: [] };
  let facts: FactsNow | null = null;
  return {
    read(span, details) {
      for (const slot of slots.touched) slots.values[slot] = undefined;
      for (const list of slots.touchedFamilies) list.length = 0;
      slots.touched.length = 0;
      slots.lists.fill(0);
      slots.touchedFamilies.length = 0;
      slots.entries = 0;
      slots.genAi = false;
      uses.clear();
      facts ??= factsOver(slots, uses, { state, span });
      facts.span = span;
      state.details = details;
      sort(slots, span.attributes);
      for (const attributes of details) complete(slots, attributes);
      return facts;
    },
  };
}

function sort(slots: Slots, { keys, values }: Attributes): void {
  slots.plans.length = keys.length;
  for (let at = 0; at < keys.length; at++) {
    const value = values[at];
    const named = findPlan(keys[at] ?? "");
    const plan = named.shared && slots.values[named.slot] !== undefined ? { ...named, ...NO_SLOT } : named;
    slots.plans[at] = plan;
    if (value === undefined || value === null) continue;
    if (plan.genAi) slots.genAi = true;
    if (plan.slot >= 0) setSlot(slots, plan, value);
    if (plan.family !== null && slots.entries < ENTRIES_MAX) addEntry(slots, plan.family, plan, value);
  }
}

const NO_SLOT: Pick<KeyPlan, "slot" | "lists"> = { slot: -1, lists: [] };

function setSlot(slots: Slots, { slot, lists }: KeyPlan, value: AttributeValue): void {
  slots.values[slot] = value;
  slots.touched.push(slot);
  for (const list of lists) slots.lists[list] = 1;
}

function addEntry(slots: Slots, family: Family, { index, rest }: KeyPlan, value: AttributeValue): void {
  const list = slots.families.get(family);
  if (list === undefined) return;
  if (list.length === 0) slots.touchedFamilies.push(list);
  list.push({ index, rest, value });
  slots.entries += 1;
}

/** Sets only slots that are empty, and adds only to families without that name. */
function complete(slots: Slots, { keys, values }: Attributes): void {
  for (let at = 0; at < keys.length; at++) {
    const value = values[at];
    const plan = findPlan(keys[at] ?? "");
    if (value === undefined || value === null) continue;
    if (plan.slot >= 0 && slots.values[plan.slot] === undefined) setSlot(slots, plan, value);
    const { family } = plan;
    if (family === null || slots.entries >= ENTRIES_MAX) continue;
    const known = slots.families.get(family) ?? [];
    if (!known.some(({ index, rest }) => index === plan.index && rest === plan.rest))
      addEntry(slots, family, plan, value);
  }
}

const NO_PLANS: readonly KeyPlan[] = [];

/** False when the span, or an earlier event, has another value under this name. */
function isTraversed(slots: Slots, { slot, family, index, rest }: KeyPlan, value: AttributeValue): boolean {
  if (slot >= 0 && slots.values[slot] !== value) return false;
  if (family === null) return true;
  const list = slots.families.get(family) ?? [];
  return list.some((one) => one.index === index && one.rest === rest && one.value === value);
}

const FAMILY_AT = new Map<Family, number>(FAMILY_NAMES.map((name, at) => [name, at]));

/** `span` is a property and no getter: V8 looks up every member of an object with a getter in a hash table. */
interface FactsNow extends Facts {
  span: Span;
}

function factsOver(
  slots: Slots,
  uses: AttributeUses,
  { state, span }: { readonly state: { readonly details: readonly Attributes[] }; readonly span: Span },
): FactsNow {
  const { values, lists } = slots;
  const familySlot = (name: Family): number => values.length + (FAMILY_AT.get(name) ?? 0);
  const listFields = ({ slot, family }: KeyPlan): number =>
    (slot < 0 ? 0 : uses.listFields(slot)) | (family === null ? 0 : uses.listFields(familySlot(family)));
  const findText = (sources: Sources, take: boolean): string => {
    if (lists[sources.list] === 0) return "";
    for (const slot of sources.slots) {
      const value = values[slot];
      if (typeof value !== "string" || value === "") continue;
      if (take) uses.take(slot);
      return value;
    }
    return "";
  };
  return {
    span,
    value(sources) {
      if (lists[sources.list] === 0) return undefined;
      for (const slot of sources.slots) {
        const value = values[slot];
        if (value === undefined) continue;
        uses.take(slot);
        return value;
      }
      return undefined;
    },
    text: (sources) => findText(sources, true),
    peek: (sources) => findText(sources, false),
    count(sources) {
      if (lists[sources.list] === 0) return undefined;
      for (const slot of sources.slots) {
        const value = values[slot];
        const number = value === undefined ? undefined : readCount(value);
        if (number === undefined) continue;
        uses.take(slot);
        return number;
      }
      return undefined;
    },
    has: (sources) => lists[sources.list] === 1,
    family(name) {
      const list = slots.families.get(name) ?? [];
      if (list.length > 0) uses.take(familySlot(name));
      return list;
    },
    familySize: (name) => slots.families.get(name)?.length ?? 0,
    enter: (field) => uses.enter(field),
    mark: () => uses.mark(),
    release: (mark) => uses.release(mark),
    eachUse(visit) {
      const visitAll = ({ keys, values: all }: Attributes, plans: readonly KeyPlan[]): void => {
        for (let at = 0; at < keys.length; at++) {
          const key = keys[at] ?? "";
          const value = all[at] ?? null;
          const plan = plans[at] ?? findPlan(key);
          const isRead = value !== null && (plans.length > 0 || isTraversed(slots, plan, value));
          visit(key, value, plan, isRead ? listFields(plan) : 0);
        }
      };
      for (const attributes of state.details) visitAll(attributes, NO_PLANS);
      visitAll(this.span.attributes, slots.plans);
    },
    slotValue: (slot) => values[slot],
    slotFields: (slot) => uses.listFields(slot),
    isGenAi: () => slots.genAi,
  };
}
