// JSON text: JSON as values that keep what JSON.parse alone loses: the digits of numbers, and whether a name stands twice
// in an object. Texts that nest deeper than DEPTH_MAX are no JSON here.

export interface JsonText {
  readonly value: unknown;
  /** A name stands twice in an object: `value` has its last member only. */
  readonly hasRepeats: boolean;
}

const DEPTH_MAX = 512;

/** null: not JSON, or nested too deep. */
export function parseJson(text: string): JsonText | null {
  const outline = readOutline(text);
  if (outline.depth > DEPTH_MAX) return null;
  try {
    const value: unknown = outline.isExact ? JSON.parse(text, keepDigits as Reviver) : JSON.parse(text);
    return { value, hasRepeats: countMembers(value) < outline.members };
  } catch {
    return null;
  }
}

interface Outline {
  members: number;
  depth: number;
  /** A number has a form that JavaScript does not write, such as more digits than a double has. */
  isExact: boolean;
}

/** One pass over the text outside of its strings. */
function readOutline(text: string): Outline {
  const outline: Outline = { members: 0, depth: 0, isExact: false };
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = stringEnd(text, at);
    else if (code === 0x3a) outline.members++;
    else if (code === 0x7b || code === 0x5b) outline.depth = Math.max(outline.depth, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = numberEnd(text, at);
      const token = text.slice(at, end);
      outline.isExact ||= String(Number(token)) !== token;
      at = end - 1;
    }
  }
  return outline;
}

function stringEnd(text: string, open: number): number {
  for (let from = open + 1; ;) {
    const end = text.indexOf('"', from);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - slashes - 1) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
    from = end + 1;
  }
}

function numberEnd(text: string, start: number): number {
  let end = start + 1;
  while (/[\d.eE+-]/.test(text[end] ?? "")) end++;
  return end;
}

/** TypeScript does not know the third argument yet. */
type Reviver = (name: string, value: unknown) => unknown;

function keepDigits(_name: string, value: unknown, context: { readonly source?: string }): unknown {
  const { source } = context;
  return typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value;
}

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return 0;
  let members = 0;
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) members += countMembers(item);
  else
    for (const member of Object.values(value)) {
      members++;
      members += countMembers(member);
    }
  return members;
}

/** TypeScript does not know them yet. */
const { isRawJSON, rawJSON } = JSON as unknown as {
  readonly isRawJSON: (value: unknown) => boolean;
  readonly rawJSON: (source: string) => unknown;
};

interface RawNumber {
  readonly rawJSON: string;
}

function isRawNumber(value: unknown): value is RawNumber {
  return isRawJSON(value);
}

/** The digits of a number as its sender wrote them; null for any other value. */
export function numberText(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return isRawNumber(value) ? value.rawJSON : null;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** In the place of a value: its item or member goes. */
export const REMOVED = Symbol("removed");

/** The same list when no item changes. */
export function mapItems(
  items: readonly unknown[],
  change: (item: unknown, index: number) => unknown,
): readonly unknown[] {
  const changed = items.map(change);
  const isSame = changed.every((item, index) => item === items[index]);
  return isSame ? items : changed.filter((item) => item !== REMOVED);
}

/** The same object when no member changes. Names that become equal stay apart. */
export function mapMembers(
  object: Readonly<Record<string, unknown>>,
  change: (name: string, value: unknown) => readonly [name: string, value: unknown],
): Readonly<Record<string, unknown>> {
  const changed = new Map<string, unknown>();
  let isSame = true;
  for (const [name, value] of Object.entries(object)) {
    const [newName, newValue] = change(name, value);
    isSame &&= newName === name && newValue === value;
    if (newValue === REMOVED) continue;
    let free = newName;
    while (changed.has(free)) free += "_";
    changed.set(free, newValue);
  }
  return isSame ? object : Object.fromEntries(changed);
}
