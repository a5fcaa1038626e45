// Ticks of crons, from their stored runs: one run each, without gaps.
import assert from "node:assert/strict";
import type { ClientBase } from "pg";

export interface Tick {
  readonly cron: string;
  /** In milliseconds: the creation time of its run. */
  readonly due: number;
  readonly made: number;
  readonly run: string;
  readonly status: string;
  readonly attempt: number;
}

/** In the order of their crons, and in each of when they were due. */
export async function ticksIn(db: ClientBase): Promise<readonly Tick[]> {
  const { rows } = await db.query<Record<"cron" | "due" | "made" | "run" | "status" | "attempt", string>>(
    `SELECT metadata::jsonb->>'cron_id' AS cron, metadata::jsonb->>'cron_due' AS due, created_at AS made, run_id AS run,
            status, attempt
     FROM holdpoint.runs WHERE metadata::jsonb ? 'cron_id' ORDER BY cron, due`,
  );
  const numbers = ({ due, made, attempt }: (typeof rows)[number]) => ({
    due: Date.parse(due),
    made: Number(made),
    attempt: Number(attempt),
  });
  return rows.map((row) => ({ ...row, ...numbers(row) }));
}

/** Fails unless each tick of each schedule happened once. */
export function assertExactlyOnce(ticks: readonly Tick[]): void {
  for (const [at, tick] of ticks.entries()) {
    const next = ticks[at + 1];
    if (next?.cron !== tick.cron) continue;
    const following = Math.floor(tick.made / 1000) * 1000 + 1000; // the tick precedes its run, if only just
    assert.ok(next.due > tick.due && next.due <= following, `${tick.cron}: ${tick.due}, and then ${next.due}`);
  }
}
