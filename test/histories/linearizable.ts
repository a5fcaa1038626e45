// Linearizability: searches for an order of a thread's calls, each between its start and its end, that the model
// accepts. The search of Wing and Gong, with Lowe's cache of visited states.
//   linearizable.1. A call with a reply takes effect once, between its start and its end, with the result in the reply.
//   linearizable.2. A call without a reply takes effect once after its start, or never.
//   linearizable.3. The model: a register (the state of the thread) with answers that one run consumes.
//   linearizable.4. A run is cancelled only by a cancellation that overlaps its call. The question of a cancelled
//        answer is open again, or was consumed before.

export type Op =
  /** A run on input, and the question that it paused at; null when the caller did not see one. */
  | { readonly verb: "start"; readonly question: string | null }
  | { readonly verb: "answer"; readonly question: string }
  | { readonly verb: "delete" }
  /** Cancels all runs of the thread. */
  | { readonly verb: "cancel" };

/** `ok`: accepted. `refused`: no effect. `lost`: unknown. `cancelled`: accepted, and its run was cancelled. */
export type Result = "ok" | "refused" | "lost" | "cancelled";

export interface Call {
  readonly op: Op;
  readonly client: number;
  readonly startedAt: number;
  /** Infinity without a reply. */
  readonly endedAt: number;
  readonly result: Result;
}

/** The state of a thread, as calls see it: the open question; null: none known. */
interface State {
  readonly exists: boolean;
  readonly open: string | null;
}

const FRESH: State = { exists: true, open: null };

/** linearizable.3. @returns the possible states after an accepted call; none for a call that must fail */
function step({ exists, open }: State, { op, result }: Call): readonly State[] {
  if (!exists) return [];
  if (op.verb === "cancel") return [{ exists, open }];
  if (op.verb === "delete") return [{ exists: false, open: null }];
  if (op.verb === "start") return [{ exists, open: op.question }]; // abandons the open question
  if (open !== op.question) return [];
  const consumed = { exists, open: null }; // once
  return result === "cancelled" ? [{ exists, open }, consumed] : [consumed]; // linearizable.4
}

/** linearizable.4. */
function isExplained({ result, startedAt, endedAt }: Call, history: readonly Call[]): boolean {
  const overlaps = (other: Call): boolean => other.startedAt < endedAt && other.endedAt > startedAt;
  const mayCancel = ({ op, result: found }: Call): boolean => op.verb === "cancel" && found !== "refused";
  return result !== "cancelled" || history.some((other) => mayCancel(other) && overlaps(other));
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
      const after = step(state, call);
      if (call.result === "refused" ? after.length > 0 : call.result !== "lost" && after.length === 0) continue;
      const rest = left.filter((other) => other !== call);
      for (const next of after.length === 0 ? [state] : after) {
        const found = search(rest, next, [...order, call]);
        if (found !== null) return found;
      }
    }
    return null;
  };
  return history.every((call) => isExplained(call, history)) ? search(history, FRESH, []) : null;
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
