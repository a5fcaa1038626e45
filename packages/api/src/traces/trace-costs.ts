// Trace costs: what a run and everything below it cost, from the costs that their senders gave. Pure.
// Invariants:
//   trace-costs.1. A cost is never calculated from tokens: a run without a given cost adds nothing.
//   trace-costs.2. Nothing counts twice. Some senders give an agent the sum of its model calls, others only one of both:
//        a run costs what it was given, or what the runs below it cost together, whichever is more.

export interface CostedRun {
  readonly dotted_order: string;
  readonly cost: number;
}

export interface TraceCosts {
  /** The cost of the whole trace; null if no run has a cost. */
  readonly total: number | null;
  /** Cost of each run with everything below it, by the dotted order of the runs that have a cost or are above one. */
  readonly below: ReadonlyMap<string, number>;
}

/** @param runs in any order */
export function computeTraceCosts(runs: readonly CostedRun[]): TraceCosts {
  const below = new Map<string, number>();
  const given = new Map(runs.map((run) => [run.dotted_order, run.cost]));
  const sums = new Map<string, number>();
  const deepestFirst = [...withAncestors(given)].toSorted((a, b) => b.length - a.length); // a parent's order is shorter
  let total = 0;
  for (const order of deepestFirst) {
    const cost = Math.max(given.get(order) ?? 0, sums.get(order) ?? 0); // trace-costs.2
    below.set(order, cost);
    const above = findParent(order);
    if (above === null) total += cost;
    else sums.set(above, (sums.get(above) ?? 0) + cost);
  }
  return { total: given.size === 0 ? null : total, below };
}

const CENT = 0.01;
const DIGITS = 3;

/** US dollars for people: whole cents, or three digits where that would hide most of a small amount. */
export function dollars(cost: number): string {
  if (cost === 0 || cost >= CENT * 100) return `$${cost.toFixed(2)}`;
  const decimals = Math.min(20, DIGITS - 1 - Math.floor(Math.log10(cost)));
  return `$${cost.toFixed(decimals).replace(/0+$/, "").replace(/\.$/, "")}`;
}

function withAncestors(given: ReadonlyMap<string, number>): ReadonlySet<string> {
  const all = new Set<string>();
  for (const order of given.keys())
    for (let at: string | null = order; at !== null && !all.has(at); at = findParent(at)) all.add(at);
  return all;
}

function findParent(order: string): string | null {
  const dot = order.lastIndexOf(".");
  return dot === -1 ? null : order.slice(0, dot);
}
