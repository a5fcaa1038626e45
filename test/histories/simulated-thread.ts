// A thread in virtual time, whose server is killed three times, with a fault that can be planted: what the checker is measured
// with. A call reads the state, commits, and gets its reply, at three random times; a good server reads and commits at
// once. Calls in progress at a kill get no reply.
import type { Call, Op, Result } from "./linearizable.ts";

export type Fault =
  /** Two calls read the same state before either commits. */
  | "no lock"
  /** The caller hears before the commit, which a kill can prevent. */
  | "reply before the commit"
  /** After a kill the server does not know that a run used the answer, and opens its question again. */
  | "forgotten attempt"
  /** What a deleted thread asked can still be answered. */
  | "half a deletion";

const CLIENTS = 3;
const CALLS = 6;
const KILLS = 3;

interface Moment {
  readonly at: number;
  readonly act: () => void;
}

/** @param next random numbers from 0 to 1; the same numbers make the same history */
export function simulate(next: () => number, fault: Fault | null): readonly Call[] {
  const calls: Call[] = [];
  const known: string[] = [];
  const moments: Moment[] = [];
  const state = { exists: true, open: null as string | null, used: null as string | null };
  let lives = 0;
  const plan = (at: number, act: () => void): void => void moments.push({ at, act });

  function begin(client: number, startedAt: number, left: number): void {
    if (left === 0) return;
    const life = lives;
    const verb = chooseVerb(next(), known.length > 0);
    const question = known[Math.floor(next() * known.length)] ?? "";
    const op: Op =
      verb === "start" ? { verb, question: `q${client}.${left}` } : verb === "answer" ? { verb, question } : { verb };
    const [readAt, commitAt, replyAt] = [1, 2, 3].map((part) => startedAt + part + next()) as [number, number, number];
    let result: Result = "lost";
    const decide = (): void => void (result = accepts(state, op) ? "ok" : "refused");
    const end = (endedAt: number): void => {
      if (op.verb === "start" && result === "ok") known.push(op.question ?? "");
      calls.push({ op, client, startedAt, endedAt, result });
    };
    if (fault === "no lock" || fault === "reply before the commit")
      plan(readAt, () => void (life === lives && decide()));
    plan(commitAt, () => {
      if (life !== lives) return;
      if (fault !== "no lock" && fault !== "reply before the commit") decide();
      if (result === "ok") apply(state, op, fault);
    });
    const heardAt = fault === "reply before the commit" ? readAt + 0.5 * next() : replyAt;
    plan(heardAt, () => {
      const isLost = life !== lives;
      if (isLost) result = "lost";
      end(isLost ? Infinity : heardAt);
      begin(client, Math.max(heardAt, replyAt) + next(), left - 1);
    });
  }

  for (let client = 0; client < CLIENTS; client++) begin(client, next(), CALLS);
  for (let kill = 0; kill < KILLS; kill++)
    plan(4 + next() * 16, () => {
      lives++;
      if (fault === "forgotten attempt" && state.exists && state.open === null) state.open = state.used;
    });
  for (let now = takeFirst(moments); now !== undefined; now = takeFirst(moments)) now.act();
  return calls;
}

function takeFirst(moments: Moment[]): Moment | undefined {
  moments.sort((one, other) => one.at - other.at);
  return moments.shift();
}

function chooseVerb(chance: number, asked: boolean): Op["verb"] {
  if (chance < 0.06) return "delete";
  if (chance < 0.12) return "cancel";
  return chance < 0.45 || !asked ? "start" : "answer";
}

interface State {
  exists: boolean;
  open: string | null;
  used: string | null;
}

function accepts({ exists, open }: State, op: Op): boolean {
  if (op.verb === "answer") return open === op.question && (exists || open !== null);
  return exists;
}

function apply(state: State, op: Op, fault: Fault | null): void {
  if (op.verb === "start") state.open = op.question;
  if (op.verb === "answer") Object.assign(state, { open: null, used: op.question });
  if (op.verb === "delete") state.exists = false;
  if (op.verb === "delete" && fault !== "half a deletion") state.open = null;
}
