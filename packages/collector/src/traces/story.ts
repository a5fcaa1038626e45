// Story: what the runs of a trace say about the whole: its status, its time, the waits for people, its result. Pure.
// Invariants:
//   story.1. A trace whose root is a run of the agent server goes on after a pause: its status is that of the newest of
//        its runs, and `waiting` after a pause that no answer has ended. The status of any other trace is its root's.
//   story.2. The latency is the whole time from the start of the root to the end of the newest run. Waits that overlap
//        count once.
//   story.3. A trace with a run that has not ended has no latency.
import { finalOutputRun, type OutputRun } from "./final-output.ts";

/** Times are microseconds since 1970. */
export interface StoryRun extends OutputRun {
  readonly start: number;
  /** A wait for a person, which the agent server sends when the answer comes. */
  readonly isWait: boolean;
}

export interface Story {
  readonly status: string;
  readonly latency: number | null;
  /** Time of waits that have ended. */
  readonly waited: number;
  readonly waitingSince: number | null;
  readonly root: string;
  /** The run whose status it is. */
  readonly newest: string;
  /** The run whose outputs are the result; null without any. */
  readonly result: string | null;
}

/** @param runs all runs of the trace, in tree order @returns null before the root has arrived */
export function tellStory(runs: readonly StoryRun[]): Story | null {
  const root = runs[0];
  if (root === undefined || root.dottedOrder.includes(".")) return null;
  const top = root.isAgentRun ? runs.filter(({ dottedOrder }) => dottedOrder.split(".").length <= 2) : [root];
  const own = top.filter((run) => run === root || run.isAgentRun);
  const newest = own.reduce((latest, run) => (run.start >= latest.start ? run : latest));
  const waits = top.filter(({ isWait, end }) => isWait && end !== null);
  const isPaused = newest.isPaused && newest.end !== null;
  const pausedAt = newest.end ?? newest.start;
  const isAnswered = waits.some(({ end }) => (end ?? 0) >= pausedAt); // the span of the run that goes on comes at its end
  const status = !isPaused ? newest.status : isAnswered ? "pending" : "waiting"; // story.1
  const ends = own.map(({ end }) => end);
  const isOpen = ends.includes(null) || status === "pending";
  return {
    status,
    latency: isOpen ? null : Math.max(0, ...ends.map((end) => (end ?? 0) - root.start)), // story.2, story.3
    waited: sumWaits(waits),
    waitingSince: status === "waiting" ? pausedAt : null,
    root: root.id,
    newest: newest.id,
    result: root.hasOutput && !root.isPaused ? root.id : finalOutputRun(runs),
  };
}

/** story.2 */
function sumWaits(waits: readonly StoryRun[]): number {
  let sum = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { start, end } of waits.toSorted((a, b) => a.start - b.start)) {
    const last = end ?? start;
    sum += Math.max(0, last - Math.max(start, until));
    until = Math.max(until, last);
  }
  return sum;
}
