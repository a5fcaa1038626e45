// Compaction: removes the deltas and the tasks from the events of ended runs over the thread protocol. Each page load
// replays these events. The finished blocks have the whole text, and a task repeats the state: on a long thread, tasks
// are most of the stored bytes.
// Invariants:
//   - The other events keep their ids and numbers. A REST stream that begins later lacks the tasks, and nothing else.
//   - A run is compacted some time after its end, so that readers of the moment get its deltas. The process
//     that ended the run does it; after a crash of that process the deltas stay until the run's events expire.
//   - One row at a time, in a transaction of its own. At most QUEUE_MAX runs wait.
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Run } from "../model/model.ts";
import { PROTOCOL_PREFIX } from "../model/protocol-lines.ts";
import type { Storage } from "../ports/ports.ts";
import { withoutLines } from "./event-batch.ts";

const QUEUE_MAX = 10_000;

const DELTA_LINES = [`${PROTOCOL_PREFIX}messages`, `${PROTOCOL_PREFIX}tools`];
const DELTA = /"event":"(content-block-delta|tool-output-delta)"/;
const TASK_LINE = `${PROTOCOL_PREFIX}tasks`;

function isGone(name: string, text: string): boolean {
  return name === TASK_LINE || (DELTA_LINES.includes(name) && DELTA.test(text));
}

export interface Compaction extends Service {
  /** Call for each run that ended in this process. */
  readonly ended: (run: Run) => void;
}

export interface CompactionPorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly afterMs: number;
}

type RunKey = Pick<Run, "threadId" | "runId">;

export function createCompaction({ storage, clock, log, afterMs }: CompactionPorts): Compaction {
  const queue: (RunKey & { readonly dueAt: number })[] = [];
  let cancel: (() => void) | null = null;
  let working: Promise<void> = Promise.resolve();
  let stopped = false;

  const work = async (): Promise<void> => {
    for (;;) {
      const [next] = queue;
      if (next === undefined || next.dueAt > clock.monotonic() || stopped) break;
      queue.shift();
      try {
        await compactRun(storage, next);
      } catch (error) {
        log.warning("compaction_failed", { run_id: next.runId, reason: describeError(error).message });
      }
    }
    cancel = null;
    schedule();
  };
  const schedule = (): void => {
    const [first] = queue;
    if (stopped || cancel !== null || first === undefined) return;
    cancel = clock.after(Math.max(0, first.dueAt - clock.monotonic()), () => void (working = work()));
  };
  return {
    name: "compaction",
    ended({ threadId, runId, request }) {
      if (request.stream?.protocol !== true || queue.length >= QUEUE_MAX) return;
      queue.push({ threadId, runId, dueAt: clock.monotonic() + afterMs });
      schedule();
    },
    start: () => Promise.resolve(),
    async stop() {
      stopped = true;
      cancel?.();
      await working;
    },
  };
}

async function compactRun(storage: Storage, { threadId, runId }: RunKey): Promise<void> {
  for (let afterSeq = 0; ;) {
    const [row] = await storage.read((tx) => tx.events(threadId, { runId, afterSeq, fromId: 0, limit: 1 }));
    if (row === undefined) return;
    afterSeq = row.seq;
    const lines = withoutLines(row.lines, isGone);
    if (lines !== null) await storage.transaction((tx) => tx.replaceLines(row, lines));
  }
}
