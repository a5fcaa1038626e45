// Typed input: text that people type → numbers and times. Pure.
// Invariants:
//   typed-input.1. Text that is not clearly one number is NaN, never another number: "1,000" can be 1 or 1000.

/** "99.5" and "99,5" → 99.5; NaN for other text (typed-input.1). */
export function parseNumber(text: string): number {
  const plain = text.trim().replace(/^([+-]?\d+),(\d{1,2}|\d{4,})$/, "$1.$2");
  return plain === "" ? Number.NaN : Number(plain);
}

const pad = (value: number): string => String(value).padStart(2, "0");

/** `2026-12-01T11:30:00Z` → the local time of an input: `2026-12-01T12:30`; empty for other text. */
export function localTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  const seconds = at.getSeconds() === 0 ? "" : `:${pad(at.getSeconds())}`;
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}${seconds}`;
}

/** The reverse, with the zone that RFC 3339 requires. */
export function zonedTime(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString().replace(".000Z", "Z");
}

export function isDate(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

export function isZonedTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
  );
}
