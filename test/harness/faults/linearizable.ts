// Linearizability: is there an order of a thread's calls, each between its start and its end, that a thread explains? A
// search as Wing and Gong describe it, with Lowe's memory of what has been tried.
//   linearizable.1. A call that was answered takes place once, between its start and its end, with the result that was
//        answered.
//   linearizable.2. A call whose answer was lost takes place once after its start, or never.
//   linearizable.3. The model: a register (what the thread is) with answers that are consumed once.

export type Op =
  /** A run on input, and the question that it paused at; null when the caller did not see one. */
  | { readonly verb: "start"; readonly question: string | null }
  | { readonly verb: "answer"; readonly question: string }
  | { readonly verb: "delete" };

/** `ok`: it was accepted. `refused`: it changed nothing. `lost`: nothing is known. */
export type Result = "ok" | "refused" | "lost";

export interface Call {
  readonly op: Op;
  readonly client: number;
  readonly startedAt: number;
  /** Infinity when the answer was lost. */
  readonly endedAt: number;
  readonly result: Result;
}

/** What a thread is, as far as calls can tell: the question that is open; null: none that anybody knows. */
interface State {
  readonly exists: boolean;
  readonly open: string | null;
}

const FRESH: State = { exists: true, open: null };

/** linearizable.3. @returns the state after the call was accepted; null when it has to be refused */
function step({ exists, open }: State, op: Op): State | null {
  if (!exists) return null;
  if (op.verb === "delete") return { exists: false, open: null };
  if (op.verb === "start") return { exists, open: op.question }; // what was open is abandoned
  return open === op.question ? { exists, open: null } : null; // consumed once
}

/** @returns an order that explains the history; null when there is none */
export function linearize(history: readonly Call[]): readonly Call[] | null {
  const tried = new Set<string>();
  const search = (left: readonly Call[], state: State, order: readonly Call[]): readonly Call[] | null => {
    const answered = left.filter(({ result }) => result !== "lost");
    if (answered.length === 0) return order; // linearizable.2
    const key = `${left.map((call) => history.indexOf(call)).join(",")}/${JSON.stringify(state)}`;
    if (tried.has(key)) return null;
    tried.add(key);
    const firstEnd = Math.min(...left.map(({ endedAt }) => endedAt));
    for (const call of left) {
      if (call.startedAt > firstEnd) continue; // linearizable.1: another one had ended before this one began
      const after = step(state, call.op);
      if ((call.result === "ok" && after === null) || (call.result === "refused" && after !== null)) continue;
      const rest = left.filter((other) => other !== call);
      const found = search(rest, after ?? state, [...order, call]);
      if (found !== null) return found;
    }
    return null;
  };
  return search(history, FRESH, []);
}

/** A history as a person reads it, by the time at which calls began. */
export function printed(history: readonly Call[]): string {
  return history
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map(({ op, client, startedAt, endedAt, result }) => {
      const what = op.verb === "answer" ? `answer ${op.question}` : op.verb;
      return `${Math.round(startedAt)}–${Math.round(endedAt)} client ${client}: ${what} → ${result}`;
    })
    .join("\n");
}
