// Calls in virtual time on a server that is killed three times. A call reads the state, commits, and gets its reply, at
// three random times; a good server reads and commits at once. Calls in progress at a kill get no reply.
import type { Call } from "./linearizable.ts";

/** What the calls are about: it has the state. */
export interface System<O> {
  choose(client: number, left: number): O;
  /** @returns what the caller hears, if the call takes place now; null for a refusal */
  decide(op: O): O | null;
  /** @param op as decided */
  apply(op: O): void;
  /** An accepted call has its reply. */
  hear?(op: O): void;
  kill(): void;
}

export type TimingFault =
  /** Two calls read the same state before either commits. */
  | "no lock"
  /** The caller hears before the commit, which a kill can prevent. */
  | "reply before the commit";

const CLIENTS = 3;
const CALLS = 6;
const KILLS = 3;

interface Moment {
  readonly at: number;
  readonly act: () => void;
}

/** @param next random numbers from 0 to 1; the same numbers make the same history */
export function simulateCalls<O>(next: () => number, system: System<O>, fault: TimingFault | null): readonly Call<O>[] {
  const calls: Call<O>[] = [];
  const moments: Moment[] = [];
  let lives = 0;
  const plan = (at: number, act: () => void): void => void moments.push({ at, act });

  function begin(client: number, startedAt: number, left: number): void {
    if (left === 0) return;
    const life = lives;
    const op = system.choose(client, left);
    const [readAt, commitAt, replyAt] = [1, 2, 3].map((part) => startedAt + part + next()) as [number, number, number];
    let decided: O | null = null;
    if (fault !== null) plan(readAt, () => void (life === lives && (decided = system.decide(op))));
    plan(commitAt, () => {
      if (life !== lives) return;
      if (fault === null) decided = system.decide(op);
      if (decided !== null) system.apply(decided);
    });
    const heardAt = fault === "reply before the commit" ? readAt + 0.5 * next() : replyAt;
    plan(heardAt, () => {
      const isLost = life !== lives;
      if (!isLost && decided !== null) system.hear?.(decided);
      const result = isLost ? "lost" : decided === null ? "refused" : "ok";
      const heard = isLost ? op : (decided ?? op);
      calls.push({ op: heard, client, startedAt, endedAt: isLost ? Infinity : heardAt, result });
      begin(client, Math.max(heardAt, replyAt) + next(), left - 1);
    });
  }

  for (let client = 0; client < CLIENTS; client++) begin(client, next(), CALLS);
  for (let kill = 0; kill < KILLS; kill++) plan(4 + next() * 16, () => (lives++, system.kill()));
  for (let now = takeFirst(moments); now !== undefined; now = takeFirst(moments)) now.act();
  return calls;
}

function takeFirst(moments: Moment[]): Moment | undefined {
  moments.sort((one, other) => one.at - other.at);
  return moments.shift();
}
