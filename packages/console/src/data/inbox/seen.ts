// Seen: the items that were open in this browser; others are unread. A mark of convenience: it holds the latest
// SEEN_MAX items, and only this browser has it.
import { createValue } from "../../hooks/value.ts";

const KEY = "holdpoint.seen";
const SEEN_MAX = 2000;

export const seen = createValue<ReadonlySet<string>>(new Set(read()));

/** @param key of the item */
export function markSeen(key: string): void {
  if (seen.get().has(key)) return;
  // Other tabs mark items too.
  const next = [...new Set([...read(), ...seen.get(), key])].slice(-SEEN_MAX);
  seen.set(new Set(next));
  localStorage.setItem(KEY, JSON.stringify(next));
}

export function markUnseen(key: string): void {
  const next = [...new Set([...read(), ...seen.get()])].filter((one) => one !== key);
  seen.set(new Set(next));
  localStorage.setItem(KEY, JSON.stringify(next));
}

function read(): readonly string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
