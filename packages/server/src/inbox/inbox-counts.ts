// Inbox counts: the number of matching items, in total and by facet.
// Invariants:
//   - A count reads parts, each a long read of its own: other lists come between them.
//   - A facet counts the items that match all filters but its own.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import type { InboxPart, InboxQuery, InboxTally, LongReads } from "../ports/ports.ts";
import type { InboxSearch } from "./inbox.ts";

export interface FacetCount {
  readonly value: string | boolean | null;
  readonly count: number;
}

const FACETS = ["graphId", "assistantId", "node", "kind", "claimedBy", "snoozed", "deadline"] as const;

export type Facet = (typeof FACETS)[number];

export interface Facets {
  readonly total: number;
  /** Most frequent first. */
  readonly counts: Readonly<Record<Facet, readonly FacetCount[]>>;
}

const VALUES_MAX = 100;

/** A member of the threads' metadata, with its values. */
export interface MetadataFacet {
  readonly key: string;
  readonly count: number;
  /** Most frequent first. */
  readonly values: readonly { readonly value: Json; readonly count: number }[];
}

const KEYS_MAX = 30;
const KEY_VALUES_MAX = 20;
/** Different members that a tally counts: the others may be identifiers. */
const MEMBERS_MAX = 10_000;
/** Longer values are cut in the index, and no choices. */
const VALUE_UNITS_MAX = 200;
/** Filters of their own. */
const OWN_KEYS = new Set(["graph_id", "assistant_id"]);

/** The number of items on all pages. */
export async function countInbox(agent: AgentContext, search: InboxSearch): Promise<number> {
  let total = 0;
  for await (const count of parts(agent, search, (reads, query) => reads.countInbox(query))) total += count;
  return total;
}

export async function countFacets(agent: AgentContext, search: InboxSearch): Promise<Facets> {
  const all: InboxSearch = {
    ...search,
    graphId: null,
    assistantId: null,
    node: null,
    kind: null,
    claimedBy: null,
    unclaimed: false,
    assignedTo: null,
    unassigned: false,
    snoozed: null,
    deadline: null,
  };
  const counts = Object.fromEntries(FACETS.map((facet) => [facet, new Map<FacetCount["value"], number>()])) as Readonly<
    Record<Facet, Map<FacetCount["value"], number>>
  >;
  let total = 0;
  for await (const tallies of parts(agent, all, (reads, query) => reads.tallyInbox(query))) {
    for (const tally of tallies) {
      const misses = FACETS.filter((facet) => !fits(tally, facet, search));
      if (misses.length > 1) continue;
      if (misses.length === 0) total += tally.count;
      for (const facet of misses.length === 0 ? FACETS : misses) {
        const value = tally[facet];
        counts[facet].set(value, (counts[facet].get(value) ?? 0) + tally.count);
      }
    }
  }
  return {
    total,
    counts: Object.fromEntries(FACETS.map((facet) => [facet, sorted(counts[facet])])) as unknown as Facets["counts"],
  };
}

/** The members of the matching items' metadata: each would select its count if it were added to the filters. */
export async function metadataFacets(agent: AgentContext, search: InboxSearch): Promise<readonly MetadataFacet[]> {
  const counts = new Map<string, Map<string, number>>();
  let members = 0;
  for await (const tallies of parts(agent, search, (reads, query) => reads.tallyMetadata(query))) {
    for (const { key, text, count } of tallies) {
      if (OWN_KEYS.has(key) || text.length >= VALUE_UNITS_MAX) continue;
      const values = counts.get(key) ?? new Map<string, number>();
      const before = values.get(text);
      if (before === undefined && ++members > MEMBERS_MAX) continue;
      counts.set(key, values.set(text, (before ?? 0) + count));
    }
  }
  const facets = [...counts].map(([key, values]) => ({
    key,
    count: [...values.values()].reduce((sum, count) => sum + count, 0),
    values: sorted(values)
      .slice(0, KEY_VALUES_MAX)
      .map(({ value, count }) => ({ value: JSON.parse(String(value)) as Json, count })),
  }));
  return facets
    .toSorted((left, right) => right.count - left.count || (left.key < right.key ? -1 : 1))
    .slice(0, KEYS_MAX);
}

async function* parts<T>(
  agent: AgentContext,
  search: InboxSearch,
  read: (reads: LongReads, query: InboxQuery) => Promise<InboxPart<T>>,
): AsyncGenerator<T> {
  const now = agent.clock.now();
  for (let after: InboxQuery["after"] = null; ;) {
    const query: InboxQuery = { ...search, now, bytesMax: 0, limit: 0, after, descending: false, order: "age" };
    const { found, next } = await read(agent.storage.longReads, query);
    yield found;
    if (next === null) return;
    after = next;
  }
}

function fits(tally: InboxTally, facet: Facet, search: InboxSearch): boolean {
  if (facet === "claimedBy" && search.unclaimed) return tally.claimedBy === null;
  const wanted = search[facet];
  return wanted === null || tally[facet] === wanted;
}

function sorted(counts: ReadonlyMap<FacetCount["value"], number>): readonly FacetCount[] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((left, right) => right.count - left.count || (String(left.value) < String(right.value) ? -1 : 1))
    .slice(0, VALUES_MAX);
}
