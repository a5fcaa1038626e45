// Filters of the inbox, as the address has them. Pure.

export const KINDS = ["tool_approval", "form", "question", "breakpoint"] as const;
export type Kind = (typeof KINDS)[number];

export interface Filters {
  /** Of what the loaded items say: words that all must be there. */
  readonly text?: string;
  readonly graph?: string;
  readonly assistant?: string;
  readonly node?: string;
  readonly action?: string;
  readonly kind?: Kind;
  /** "15m", "2h", "7d". */
  readonly older?: string;
  /** `key=value`, several with commas between them. */
  readonly metadata?: string;
  /** "nobody", "me", or a name. */
  readonly claim?: string;
  /** Longest waiting first unless `newest`. */
  readonly order?: "newest";
}

const TEXTS = ["text", "graph", "assistant", "node", "action", "metadata", "claim"] as const;
const TEXT_UNITS_MAX = 1024;

/** What an address says → what of it is a filter. The rest is left out: an address is typed by people too. */
export function readFilters(search: Readonly<Record<string, unknown>>): Filters {
  const filters: { -readonly [Name in keyof Filters]: Filters[Name] } = {};
  for (const name of TEXTS) {
    const value = search[name];
    // An address that says `text=42` comes as a number.
    if (["string", "number", "boolean"].includes(typeof value) && value !== "") {
      filters[name] = String(value).slice(0, TEXT_UNITS_MAX);
    }
  }
  const kind = KINDS.find((one) => one === search["kind"]);
  if (kind !== undefined) filters.kind = kind;
  const { older } = search;
  if (typeof older === "string" && /^\d{1,9}[smhd]?$/.test(older)) filters.older = older;
  if (search["order"] === "newest") filters.order = "newest";
  return filters;
}
