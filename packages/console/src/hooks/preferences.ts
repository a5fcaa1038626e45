// Preferences: a person's choices in this browser. No link depends on them.
import { isKeptHere } from "./views.ts";
import { createValue, type Value } from "./value.ts";

export type Theme = "system" | "light" | "dark";

const PREFIX = "holdpoint.";

/** A value that survives the tab. An invalid stored value counts as absent. @param isOwn this browser keeps it */
function preference<T extends string | number | boolean>(
  name: string,
  fallback: T,
  choices: readonly T[] | null,
  isOwn: () => boolean = () => true,
): Value<T> {
  const key = PREFIX + name;
  const value = createValue(read(key, fallback, choices));
  value.subscribe(() => isOwn() && localStorage.setItem(key, JSON.stringify(value.get())));
  window.addEventListener("storage", (event) => {
    if (event.key === key && isOwn()) value.set(read(key, fallback, choices)); // changed in another tab
  });
  return value;
}

function read<T>(key: string, fallback: T, choices: readonly T[] | null): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    if (typeof value !== typeof fallback) return fallback;
    return choices === null || choices.includes(value as T) ? (value as T) : fallback;
  } catch {
    return fallback;
  }
}

export const theme = preference<Theme>("theme", "system", ["system", "light", "dark"]);

/** Name of the author on a server without authentication; empty for anonymous. */
export const ownName = preference<string>("name", "", null);

export const HOLD_CHOICES_SECS = [0, 5, 10, 30] as const;

/** Undo window before an answer is sent; 0 confirms every answer instead. */
export const holdSecs = preference<number>("hold_secs", 5, HOLD_CHOICES_SECS);

/** More columns of the inbox: names of metadata or arguments, `claim`, `run`, with commas between. */
export const columns = preference<string>("columns", "", null);
export const COLUMNS_MAX = 4;

export function readColumns(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))].slice(0, COLUMNS_MAX);
}

/** The tab of the inbox that was chosen last; empty for all. */
export const inboxTab = preference<string>("tab", "", null, isKeptHere.get);

/** Whether a dangerous answer asks for the name of its action. */
export const typesName = preference<boolean>("types_name", false, null);

/** Whether the inbox opens the next item after a decision. */
export const advances = preference<boolean>("advance", true, null);

export const notifications = preference<boolean>("notifications", false, null);

/** Applies the theme to the page, now and on every change. */
export function applyTheme(): void {
  const apply = (): void => {
    document.documentElement.dataset["theme"] = theme.get();
  };
  apply();
  theme.subscribe(apply);
}
