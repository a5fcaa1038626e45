// Plans: random programs with interrupts, as data. The same seed yields the same plan on every machine.

export type Step =
  | { readonly kind: "ask"; readonly times: number }
  /** Fails once, and retries by its policy. */
  | { readonly kind: "stumble" }
  /** Interrupts inside `try`, throws, and continues in `catch`. */
  | { readonly kind: "caught" }
  | { readonly kind: "tasks"; readonly bodies: readonly Body[]; readonly parallel: boolean; readonly rounds: number }
  | { readonly kind: "graph"; readonly graph: GraphPlan; readonly times: number };

/** The work of a node or a task. */
export interface Body {
  readonly place: string;
  readonly steps: readonly Step[];
}

export type NodePlan =
  | { readonly kind: "body"; readonly body: Body; readonly visits: number }
  | { readonly kind: "graph"; readonly place: string; readonly graph: GraphPlan }
  | { readonly kind: "sends"; readonly body: Body; readonly items: number }
  | { readonly kind: "tools"; readonly place: string; readonly asks: readonly boolean[] }
  /** Throws after its interrupts; an error handler interrupts instead. */
  | { readonly kind: "handled"; readonly body: Body; readonly handler: Body };

export interface GraphPlan {
  readonly layers: readonly (readonly NodePlan[])[];
}

export type Plan =
  | { readonly kind: "entrypoint"; readonly body: Body }
  | { readonly kind: "graph"; readonly graph: GraphPlan };

export interface Random {
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

export function randomFrom(seed: number): Random {
  let state = (seed * 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}

/** Questions in one program, about. */
const QUESTIONS_MAX = 12;
const DEPTH_MAX = 3;

/** @param stumblesLate the library's retries keep the answers before a failure */
export function drawPlan(seed: number, stumblesLate: boolean): Plan {
  const random = randomFrom(seed);
  const functional = random.below(2) === 0;
  let places = 0;
  let left = QUESTIONS_MAX;
  const place = (kind: string): string => `${kind}${places++}`;
  const askStep = (): Step => {
    const times = Math.min(random.pick([0, 1, 1, 2, 2, 3]), Math.max(left, 0));
    left -= times;
    return { kind: "ask", times };
  };
  const drawStep = (depth: number, before: readonly Step[]): Step => {
    const kind = depth >= DEPTH_MAX || left <= 0 ? 0 : random.below(10);
    const isRetried = depth > 0 || !functional; // the library has no retry policy for an entrypoint
    const repeats = before.every((step) => step.kind === "ask" || step.kind === "caught") && stumblesLate;
    if (kind === 4 && isRetried && (repeats || before.length === 0)) return { kind: "stumble" };
    if (kind === 5) {
      left--;
      return { kind: "caught" };
    }
    if (kind === 6 || kind === 7) {
      const bodies = Array.from({ length: 1 + random.below(3) }, () => drawBody("task", depth + 1));
      return { kind: "tasks", bodies, parallel: random.below(2) === 0, rounds: random.pick([1, 1, 2]) };
    }
    if (kind === 8) return { kind: "graph", graph: drawGraph(depth + 1), times: random.pick([1, 1, 2]) };
    return askStep();
  };
  const drawBody = (kind: string, depth: number): Body => {
    const name = place(kind);
    const steps: Step[] = [];
    const count = 1 + random.below(3);
    for (let at = 0; at < count; at++) steps.push(drawStep(depth, steps));
    return { place: name, steps };
  };
  const drawNode = (depth: number): NodePlan => {
    const kind = depth >= DEPTH_MAX ? 0 : random.below(9);
    if (kind === 4 || kind === 5) return { kind: "graph", place: place("graph"), graph: drawGraph(depth + 1) };
    if (kind === 6) return { kind: "sends", body: drawBody("send", depth + 1), items: 1 + random.below(3) };
    if (kind === 7) {
      left--;
      return {
        kind: "tools",
        place: place("tools"),
        asks: random.pick([
          [true, false],
          [false, true],
        ]),
      }; // two that ask: place-tests.ts
    }
    if (kind === 8)
      return { kind: "handled", body: drawBody("node", DEPTH_MAX), handler: drawBody("handler", DEPTH_MAX) };
    return { kind: "body", body: drawBody("node", depth), visits: random.pick([1, 1, 1, 2]) };
  };
  const drawGraph = (depth: number): GraphPlan => ({
    layers: Array.from({ length: 1 + random.below(2) }, () =>
      Array.from({ length: random.pick([1, 2, 2, 3]) }, () => drawNode(depth)),
    ),
  });
  return functional ? { kind: "entrypoint", body: drawBody("main", 0) } : { kind: "graph", graph: drawGraph(0) };
}
