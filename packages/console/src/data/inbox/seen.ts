// Seen: the items that were open in this browser, or by the person who has signed in (own-console.ts); others are
// unread. A mark of convenience: it holds the latest SEEN_MAX items.
import { isKeptHere } from "../../hooks/views.ts";
import { createValue } from "../../hooks/value.ts";
import { SEEN_MAX } from "./kept.ts";

const KEY = "holdpoint.seen";

export const seen = createValue<ReadonlySet<string>>(new Set(readSeen()));

/** @param key of the item */
export function markSeen(key: string): void {
  if (seen.get().has(key)) return;
  // Other tabs mark items too.
  const next = [...new Set([...readSeen(), ...seen.get(), key])].slice(-SEEN_MAX);
  store(next);
}

export function markUnseen(key: string): void {
  const next = [...new Set([...readSeen(), ...seen.get()])].filter((one) => one !== key);
  store(next);
}

function store(next: readonly string[]): void {
  seen.set(new Set(next));
  if (isKeptHere.get()) localStorage.setItem(KEY, JSON.stringify(next));
}

function readSeen(): readonly string[] {
  if (!isKeptHere.get()) return [];
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
