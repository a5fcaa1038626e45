// Filters of the inbox: from the URL, as a server query, and the part that the browser filters. Pure.
import type { Json } from "../../../json/json.ts";
import type { ListedItem } from "../../../data/inbox/item.ts";

export const KINDS = ["tool_approval", "form", "question", "breakpoint"] as const;
export type Kind = (typeof KINDS)[number];

export interface Filters {
  /** Words that the server searches for. */
  readonly text?: string;
  readonly graph?: string;
  readonly assistant?: string;
  readonly node?: string;
  readonly action?: string;
  readonly kind?: Kind;
  /** "15m", "2h", "7d". */
  readonly older?: string;
  /** `key=value`, several separated by commas. */
  readonly metadata?: string;
  /** "nobody", "me", or a name; claims and assignments. */
  readonly claim?: string;
  /** Time left until the deadline. */
  readonly due?: Due;
  /** Items with a follow-up date in the future are hidden unless asked for. */
  readonly snoozed?: Snoozed;
  /** Whose items; all by default. */
  readonly tab?: Tab;
  /** Oldest first by default. */
  readonly order?: Order;
}

export const TABS = ["mine", "groups", "unassigned"] as const;
export type Tab = (typeof TABS)[number];
export const DUES = ["overdue", "hour", "day", "week", "later", "none"] as const;
type Due = (typeof DUES)[number];
export const SNOOZED = ["only", "all"] as const;
type Snoozed = (typeof SNOOZED)[number];
export const ORDERS = ["newest", "deadline", "priority"] as const;
type Order = (typeof ORDERS)[number];

const TEXTS = ["text", "graph", "assistant", "node", "action", "metadata", "claim"] as const;
const TEXT_UNITS_MAX = 1024;

/** URL parameters → filters. Drops invalid ones: people type URLs too. */
export function readFilters(search: Readonly<Record<string, unknown>>): Filters {
  const filters: { -readonly [Name in keyof Filters]: Filters[Name] } = {};
  for (const name of TEXTS) {
    const value = search[name];
    // `text=42` in a URL arrives as a number.
    if (["string", "number", "boolean"].includes(typeof value) && value !== "") {
      filters[name] = String(value).slice(0, TEXT_UNITS_MAX);
    }
  }
  const kind = KINDS.find((one) => one === search["kind"]);
  if (kind !== undefined) filters.kind = kind;
  const { older } = search;
  if (typeof older === "string" && /^\d{1,9}[smhd]?$/.test(older)) filters.older = older;
  const due = DUES.find((one) => one === search["due"]);
  if (due !== undefined) filters.due = due;
  const snoozed = SNOOZED.find((one) => one === search["snoozed"]);
  if (snoozed !== undefined) filters.snoozed = snoozed;
  const tab = TABS.find((one) => one === search["tab"]);
  if (tab !== undefined) filters.tab = tab;
  const order = ORDERS.find((one) => one === search["order"]);
  if (order !== undefined) filters.order = order;
  return filters;
}

const PAGE_ITEMS = 100;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Who looks at the list. */
export interface Viewer {
  /** Author name of this browser. */
  readonly name: string;
  readonly email: string | null;
  readonly groups: readonly string[];
}

/** The list; rows have no values. */
export function buildQuery(filters: Filters, me: Viewer): Query {
  return { ...buildChoices(filters, me), sort: filters.order ?? "oldest", limit: PAGE_ITEMS, values: "false" };
}

/** The part that also counts take. */
export function buildChoices(filters: Filters, me: Viewer): Query {
  const { text, graph, assistant, node, kind, older, metadata, claim, due, snoozed, tab } = filters;
  return {
    q: text,
    graph_id: graph,
    assistant_id: assistant,
    node,
    kind,
    older_than: older,
    metadata: metadata === undefined ? undefined : JSON.stringify(parseMetadata(metadata)),
    claimed_by: claim === undefined || claim === "nobody" ? undefined : claim === "me" ? me.name : claim,
    unclaimed: claim === "nobody" ? true : undefined,
    assigned_to: tab === "mine" || tab === "groups" ? listAssignees(tab, me) : undefined,
    unassigned: tab === "unassigned" ? true : undefined,
    deadline: due,
    snoozed: snoozed === "all" ? undefined : snoozed === "only",
  };
}

function listAssignees(tab: "mine" | "groups", { name, email, groups }: Viewer): string {
  const names = tab === "mine" ? [name, email] : groups.map((group) => `group:${group}`);
  // Someone without a group has no items of groups: an empty list would be no filter.
  return names.filter((one) => one !== null && !one.includes(",")).join(",") || "group:";
}

/** `customer=7, tier=gold` → `{customer: 7, tier: "gold"}`: valid JSON is parsed, the rest is text. */
export function parseMetadata(text: string): Readonly<Record<string, unknown>> {
  const pairs = text.split(",").map((pair): [string, unknown] => {
    const at = pair.indexOf("=");
    const name = (at === -1 ? pair : pair.slice(0, at)).trim();
    return [name, at === -1 ? true : scalar(pair.slice(at + 1).trim())];
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}

/** The filter with one more pair: `tier=gold`, 7 of `customer` → `tier=gold, customer=7`; a pair of the same name goes. */
export function withPair(text: string, key: string, value: Json): string {
  const others = text.split(",").filter((pair) => pair.trim() !== "" && pair.split("=")[0]?.trim() !== key);
  return [...others, pairText(key, value)].map((pair) => pair.trim()).join(", ");
}

/** A text that looks like another value is quoted. */
function pairText(key: string, value: Json): string {
  const plain = typeof value === "string" && value.trim() === value && scalar(value) === value;
  return `${key}=${plain ? value : JSON.stringify(value)}`;
}

/** A pair that the text of the filter can hold: commas separate pairs. */
export function isWritable(key: string, value: Json): boolean {
  return !/[,=]/.test(key) && key.trim() === key && key !== "" && !pairText(key, value).includes(",");
}

function scalar(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The filter without server support: the action's name. */
export function matches(item: ListedItem, { action }: Filters): boolean {
  return action === undefined || item.action === action;
}

/** Active filters, for the empty state and for removing them. */
export function activeFilters(filters: Filters): readonly (keyof Filters)[] {
  return (Object.keys(filters) as (keyof Filters)[]).filter((name) => name !== "order" && name !== "tab");
}
