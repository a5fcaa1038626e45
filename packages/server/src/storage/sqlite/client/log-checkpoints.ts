// Log checkpoints: a thread with its own connection moves the pages of the write-ahead log into the file, so that no
// commit does. A commit would also move everything that a long reader, such as a backup, has held back: for seconds.
// Invariants:
//   log-checkpoints.1. The thread moves pages after every LOG_UNITS of text or LOG_COMMITS commits, one pass at a time.
//   log-checkpoints.2. The log starts again at its beginning only when all its pages have moved. Under constant load the
//     thread is always a few pages behind: once the log is large, the main connection moves these few.
//   log-checkpoints.3. Without the thread, commits move the pages.
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Database } from "./database.ts";

/** Result of a pass, in pages: those of the log, and those that have moved. */
export interface CheckpointPass {
  readonly logged: number;
  readonly moved: number;
  /** Null: the pass succeeded. */
  readonly failure: string | null;
}

export interface LogCheckpoints {
  /** After a commit with writes. */
  committed(): void;
  /** Empties the log, once no reader needs it. @returns whether it is empty */
  empty(): Promise<boolean>;
  stop(): Promise<void>;
}

const LOG_UNITS = 1_000_000;
const LOG_COMMITS = 200;
/** Log above which its start is worth two syncs on the main connection. */
const LARGE_LOG_BYTES = 16_000_000;
/** Without the thread: pages of 1,024 bytes in 4 MB. */
const PAGES_OF_A_COMMIT = 4000;
const EMPTY_ATTEMPTS = 50;
const EMPTY_RETRY_MS = 20;
/** The thread has one connection and no data of its own. */
const HEAP_MB = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

export function createLogCheckpoints(db: Database, path: string, log: Log): LogCheckpoints {
  const pageBytes = Number(db.get("PRAGMA page_size")?.["page_size"]);
  let thread: Worker | null = null;
  let state: "idle" | "working" | "given up" | "stopped" = "idle";
  let commits = 0;
  let unitsBefore = db.boundUnits();
  db.exec("PRAGMA wal_autocheckpoint = 0");

  const giveUp = (reason: string): void => {
    if (state === "stopped" || state === "given up") return;
    state = "given up";
    log.warning("log_checkpoint_thread_failed", { reason });
    db.exec(`PRAGMA wal_autocheckpoint = ${PAGES_OF_A_COMMIT}`); // log-checkpoints.3
  };
  const onPass = ({ logged, moved, failure }: CheckpointPass): void => {
    if (state !== "working") return;
    state = "idle";
    if (failure !== null) log.warning("log_checkpoint_failed", { reason: failure });
    else if (moved === logged && logged * pageBytes > LARGE_LOG_BYTES) db.exec("PRAGMA wal_checkpoint(PASSIVE)"); // log-checkpoints.2
  };
  const start = (): Worker => {
    const file = new URL(`./checkpoint-thread${extname(import.meta.url)}`, import.meta.url);
    const started = new Worker(file, { workerData: path, resourceLimits: HEAP_MB, execArgv: [] });
    started.on("message", onPass);
    started.on("error", (error) => giveUp(describeError(error).message));
    started.on("exit", (code) => giveUp(`it ended with ${code}`));
    started.unref();
    return started;
  };
  return {
    committed() {
      commits++;
      const isDue = commits >= LOG_COMMITS || db.boundUnits() - unitsBefore >= LOG_UNITS;
      if (!isDue || state !== "idle") return; // log-checkpoints.1
      commits = 0;
      unitsBefore = db.boundUnits();
      state = "working";
      thread ??= start();
      thread.postMessage("pass", []);
    },
    async empty() {
      for (let attempt = 0; attempt < EMPTY_ATTEMPTS; attempt++) {
        if (attempt > 0) await new Promise((resolve) => void setTimeout(resolve, EMPTY_RETRY_MS));
        if (db.get("PRAGMA wal_checkpoint(TRUNCATE)")?.["busy"] === 0) return true;
      }
      return false;
    },
    async stop() {
      state = "stopped";
      await thread?.terminate();
    },
  };
}
