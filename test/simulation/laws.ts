// Laws of a simulation: what holds for every order of commits, refusals, cuts and stops.
//   laws.1. The calls of each thread are linearizable (test/histories/linearizable.ts).
//   laws.2. An acknowledged run is stored, a refused one is not; not knowing is said as `commit_unknown`.
//   laws.3. An event has one id in its run, and an id one event; a thread's rows are in the order of their ids.
//   laws.4. A reader that has seen a row sees no new one before it.
//   laws.5. The checkpoints of a thread are one line, and its newest one is the last. An answer reaches its question.
import type { Client } from "pg";
import { linearize, printed, type Call } from "../histories/linearizable.ts";

/** A call that asked for a run. */
interface Asked {
  readonly mark: string;
  readonly threadId: string;
  /** Null: the caller does not know. */
  readonly accepted: boolean | null;
}

export class Laws {
  readonly calls = new Map<string, Call[]>();
  readonly asked: Asked[] = [];
  readonly found: string[] = [];
  private readonly published = new Map<string, string>();
  private readonly seen = new Map<string, Set<string>>();

  readonly broken = (what: string): void => void this.found.push(what);

  /** laws.3. Readers in the process of the run see an event before it is stored. */
  publish(runId: string, id: number, text: string): void {
    const key = `event ${id} of ${runId}`;
    const before = this.published.get(key);
    if (before !== undefined && before !== text) this.broken(`${key} is both ${before} and ${text}`);
    this.published.set(key, text);
  }

  /** laws.4. */
  async readEvents(admin: Client, threadId: string): Promise<void> {
    const { rows } = await admin.query<{ readonly seq: string }>(
      "SELECT seq FROM holdpoint.events WHERE thread_id = $1 ORDER BY seq",
      [threadId],
    );
    const seen = this.seen.get(threadId) ?? new Set();
    this.seen.set(threadId, seen);
    const last = Math.max(0, ...[...seen].map(Number));
    for (const { seq } of rows) {
      if (!seen.has(seq) && Number(seq) < last) this.broken(`row ${seq} came after ${last} was read`);
      seen.add(seq);
    }
  }

  /** After the last call. */
  async judge(admin: Client): Promise<void> {
    for (const [threadId, calls] of this.calls) {
      if (linearize(calls) === null) this.broken(`not linearizable:\n${printed(calls)}`); // laws.1
      await this.readEvents(admin, threadId);
      await this.judgeEvents(admin, threadId);
      await this.judgeCheckpoints(admin, threadId);
    }
    for (const { mark, threadId, accepted } of this.asked) {
      if (accepted === null) continue;
      const find = "SELECT 1 FROM holdpoint.runs WHERE thread_id = $1 AND metadata::jsonb ->> 'mark' = $2";
      const isStored = (await admin.query(find, [threadId, mark])).rows.length > 0;
      const isThere = (await admin.query("SELECT 1 FROM holdpoint.threads WHERE thread_id = $1", [threadId])).rows;
      if (!accepted && isStored) this.broken(`call ${mark} was refused, and its run is stored`); // laws.2
      if (accepted && !isStored && isThere.length > 0) this.broken(`call ${mark} was accepted, and has no run`);
    }
  }

  /** laws.3. */
  private async judgeEvents(admin: Client, threadId: string): Promise<void> {
    const { rows } = await admin.query<{ readonly runId: string; readonly first: string; readonly last: string }>(
      `SELECT run_id AS "runId", first, last FROM holdpoint.events WHERE thread_id = $1 ORDER BY seq`,
      [threadId],
    );
    const ends = new Map<string, number>();
    for (const { runId, first, last } of rows) {
      if (Number(first) <= (ends.get(runId) ?? -1)) this.broken(`ids from ${first} of ${runId} are stored twice`);
      ends.set(runId, Number(last));
    }
  }

  /** laws.5. */
  private async judgeCheckpoints(admin: Client, threadId: string): Promise<void> {
    const { rows } = await admin.query<{ readonly id: string; readonly parent: string | null }>(
      `SELECT checkpoint_id AS id, parent_id AS parent FROM holdpoint.checkpoints
       WHERE thread_id = $1 ORDER BY checkpoint_id DESC`,
      [threadId],
    );
    for (const [at, { id, parent }] of rows.entries()) {
      const before = rows[at + 1]?.id ?? null;
      if (parent !== before) this.broken(`checkpoint ${id} follows ${parent}, not ${before}`);
    }
    const heads = await admin.query<{ readonly id: string }>(
      "SELECT checkpoint_id AS id FROM holdpoint.heads WHERE thread_id = $1",
      [threadId],
    );
    const head = heads.rows[0]?.id;
    if (rows.length > 0 && head !== rows[0]?.id) this.broken(`the newest checkpoint is ${head}, not ${rows[0]?.id}`);
  }
}
