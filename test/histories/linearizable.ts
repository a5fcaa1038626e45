// Linearizability: searches for an order of calls, each between its start and its end, that a model accepts. The search of Wing and Gong, with Lowe's cache of visited states.
//   linearizable.1. A call with a reply takes effect once, between its start and its end, with the result in the reply.
//   linearizable.2. A call without a reply takes effect once after its start, or never.
//   linearizable.3. The model of a thread: a register (its state) with answers that one run consumes. reviews.ts: another.
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

export interface Call<O = Op> {
  readonly op: O;
  readonly client: number;
  readonly startedAt: number;
  /** Infinity without a reply. */
  readonly endedAt: number;
  readonly result: Result;
}

/** What calls may do. */
export interface Model<O, S> {
  readonly fresh: S;
  /** @returns the possible states after an accepted call; none for a call that must fail */
  readonly step: (state: S, call: Call<O>) => readonly S[];
  /** Whether the other calls allow this one's result. */
  readonly isExplained?: (call: Call<O>, history: readonly Call<O>[]) => boolean;
}

/** The state of a thread, as calls see it: the open question; null: none known. */
interface State {
  readonly exists: boolean;
  readonly open: string | null;
}

/** linearizable.3. */
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

const THREAD: Model<Op, State> = { fresh: { exists: true, open: null }, step, isExplained };

/** @returns an order that explains the history of a thread; null when there is none */
export function linearize(history: readonly Call[]): readonly Call[] | null {
  return linearizeBy(THREAD, history);
}

/** As linearize(), for any model. */
export function linearizeBy<O, S>(model: Model<O, S>, history: readonly Call<O>[]): readonly Call<O>[] | null {
  const { fresh, isExplained: explains = () => true } = model;
  const tried = new Set<string>();
  const search = (left: readonly Call<O>[], state: S, order: readonly Call<O>[]): readonly Call<O>[] | null => {
    const answered = left.filter(({ result }) => result !== "lost");
    if (answered.length === 0) return order; // linearizable.2
    const key = `${left.map((call) => history.indexOf(call)).join(",")}/${JSON.stringify(state)}`;
    if (tried.has(key)) return null;
    tried.add(key);
    const firstEnd = Math.min(...left.map(({ endedAt }) => endedAt));
    for (const call of left) {
      if (call.startedAt > firstEnd) continue; // linearizable.1: another one had ended before this one began
      const after = model.step(state, call);
      if (call.result === "refused" ? after.length > 0 : call.result !== "lost" && after.length === 0) continue;
      const rest = left.filter((other) => other !== call);
      for (const next of after.length === 0 ? [state] : after) {
        const found = search(rest, next, [...order, call]);
        if (found !== null) return found;
      }
    }
    return null;
  };
  return history.every((call) => explains(call, history)) ? search(history, fresh, []) : null;
}

/** A history as a person reads it, by the time at which calls began. */
export function printed(history: readonly Call<object>[]): string {
  return history
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map(({ op, client, startedAt, endedAt, result }) => {
      const what = Object.values(op).filter((part) => part !== null);
      return `${Math.round(startedAt)}–${Math.round(endedAt)} client ${client}: ${what.join(" ")} → ${result}`;
    })
    .join("\n");
}
