// A thread with a fault that can be planted: what the checker is measured with.
import type { Call, Op } from "./linearizable.ts";
import { simulateCalls, type System, type TimingFault } from "./simulated-calls.ts";

export type Fault =
  | TimingFault
  /** After a kill the server does not know that a run used the answer, and opens its question again. */
  | "forgotten attempt"
  /** What a deleted thread asked can still be answered. */
  | "half a deletion";

/** @param next random numbers from 0 to 1; the same numbers make the same history */
export function simulate(next: () => number, fault: Fault | null): readonly Call[] {
  const isOfTiming = fault === "no lock" || fault === "reply before the commit";
  return simulateCalls(next, createThread(next, fault), isOfTiming ? fault : null);
}

function createThread(next: () => number, fault: Fault | null): System<Op> {
  const known: string[] = [];
  const state = { exists: true, open: null as string | null, used: null as string | null };
  return {
    choose(client, left) {
      const verb = chooseVerb(next(), known.length > 0);
      const question = known[Math.floor(next() * known.length)] ?? "";
      if (verb === "start") return { verb, question: `q${client}.${left}` };
      return verb === "answer" ? { verb, question } : { verb };
    },
    decide(op) {
      if (op.verb === "answer") return state.open === op.question && (state.exists || state.open !== null) ? op : null;
      return state.exists ? op : null;
    },
    apply(op) {
      if (op.verb === "start") state.open = op.question;
      if (op.verb === "answer") Object.assign(state, { open: null, used: op.question });
      if (op.verb === "delete") state.exists = false;
      if (op.verb === "delete" && fault !== "half a deletion") state.open = null;
    },
    hear(op) {
      if (op.verb === "start") known.push(op.question ?? "");
    },
    kill() {
      if (fault === "forgotten attempt" && state.exists && state.open === null) state.open = state.used;
    },
  };
}

function chooseVerb(chance: number, asked: boolean): Op["verb"] {
  if (chance < 0.06) return "delete";
  if (chance < 0.12) return "cancel";
  return chance < 0.45 || !asked ? "start" : "answer";
}
