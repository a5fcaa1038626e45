// Lazy JSON: a JSON text whose value is parsed on first use, or before it in slices of the event loop.
import type { Json } from "./json/json.ts";
import { parseInSlices } from "./parse-in-slices.ts";

/** JSON.parse of a shorter text is a short turn, and several times faster. */
const LONG_UNITS = 2 * 1024 * 1024;

export interface LazyJson {
  readonly text: string;
  readonly json: Json;
  /** Parses a long text in slices, so that `json` is there at once. Undefined for a text that is short, or parsed. */
  readonly load: () => Promise<void> | undefined;
}

export function lazyJson(text: string): LazyJson {
  let parsed: { readonly json: Json } | null = null;
  return {
    text,
    get json() {
      parsed ??= { json: JSON.parse(text) as Json };
      return parsed.json;
    },
    load() {
      if (parsed !== null || text.length <= LONG_UNITS) return undefined;
      return parseInSlices(text, Infinity).then((json) => void (parsed ??= { json: json as Json }));
    },
  };
}
