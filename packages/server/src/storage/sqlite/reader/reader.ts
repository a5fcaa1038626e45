// Reader: long reads in threads of their own (README.md).
// Invariants:
//   reader.1. A call settles exactly once: with its result, its failure, or the limit of time.
//   reader.2. A thread has one call at a time. Calls start in their order.
//   reader.3. A call after an acknowledged write sees that write.
//   reader.4. A thread that ends, or is given up, takes only its own call with it.
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import { SealedValueError, type EncryptionKey } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { ReadCall } from "../../shared/long-reads.ts";
import { storageFailure } from "../client/storage-faults.ts";

export interface ReadReply {
  readonly result: unknown;
  /** Null: the read succeeded. */
  readonly failure: { readonly message: string; readonly kind: "fault" | "sealed" | "other" } | null;
}

/** What a reader thread starts with. */
export interface ReaderData {
  readonly path: string;
  readonly keys: readonly EncryptionKey[];
}

export interface Reader {
  /** @throws {ApiError} `read_too_slow`, `storage_unavailable` */
  read(call: ReadCall): Promise<unknown>;
  stop(): Promise<void>;
}

export interface ReaderOptions {
  readonly path: string;
  readonly keys?: readonly EncryptionKey[];
  readonly log: Log;
  readonly limitMs?: number;
  /** File of the thread. */
  readonly file?: URL;
}

interface Waiting {
  readonly call: ReadCall;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Null while it is idle. */
  job: Waiting | null;
}

const THREADS_MAX = 2;
const LIMIT_MS = 30_000;
const HEAP_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };
/** Older versions of Node warn of their SQLite once a thread. */
const QUIET = ["--disable-warning=ExperimentalWarning"];
const FILE = new URL(`./reader-thread${extname(import.meta.url)}`, import.meta.url);

export function createReader({ path, keys = [], log, limitMs = LIMIT_MS, file = FILE }: ReaderOptions): Reader {
  const threads = new Set<Thread>();
  const waiting: Waiting[] = [];
  const workerData: ReaderData = { path, keys };
  let isStopped = false;

  const startThread = (): Thread => {
    const worker = new Worker(file, { workerData, resourceLimits: HEAP_MB, execArgv: QUIET });
    const thread: Thread = { worker, job: null };
    worker.unref();
    worker.on("message", ({ result, failure }: ReadReply) => {
      const { job } = thread;
      thread.job = null;
      worker.unref();
      if (failure === null) job?.resolve(result);
      else job?.reject(toError(failure));
      startWaiting();
    });
    const onEnd = (reason: string): void => {
      if (!threads.delete(thread)) return;
      log.warning("reader_thread_failed", { reason });
      thread.job?.reject(storageFailure(new Error(`the reader ended: ${reason}`))); // reader.4
      startWaiting();
    };
    worker.on("error", (error) => onEnd(describeError(error).message));
    worker.on("exit", (code) => onEnd(`exit code ${code}`));
    threads.add(thread);
    return thread;
  };
  const startWaiting = (): void => {
    while (waiting.length > 0) {
      let idle = [...threads].find(({ job }) => job === null);
      if (idle === undefined && threads.size < THREADS_MAX) idle = startThread();
      if (idle === undefined) return;
      const next = waiting.shift() as Waiting; // reader.2
      idle.job = next;
      idle.worker.ref();
      idle.worker.postMessage(next.call, []);
    }
  };
  const giveUp = (job: Waiting): void => {
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
    const thread = [...threads].find((one) => one.job === job);
    job.reject(tooSlow(limitMs));
    if (thread === undefined) return;
    log.warning("read_too_slow", { verb: job.call.verb, after_ms: limitMs });
    threads.delete(thread);
    void thread.worker.terminate();
    startWaiting();
  };
  return {
    read: (call) =>
      new Promise((resolve, reject) => {
        if (isStopped) return reject(closed());
        const limit = setTimeout(() => giveUp(job), limitMs);
        const job: Waiting = {
          call,
          resolve(result) {
            clearTimeout(limit);
            resolve(result);
          },
          reject(error) {
            clearTimeout(limit);
            reject(error);
          },
        };
        waiting.push(job);
        startWaiting();
      }),
    async stop() {
      isStopped = true;
      const all = [...threads];
      threads.clear();
      for (const job of [...waiting.splice(0), ...all.flatMap(({ job }) => job ?? [])]) job.reject(closed());
      await Promise.all(all.map(({ worker }) => worker.terminate()));
    },
  };
}

function toError({ kind, message }: NonNullable<ReadReply["failure"]>): Error {
  if (kind === "sealed") return new SealedValueError(message);
  return kind === "fault" ? storageFailure(new Error(message)) : new Error(message);
}

function closed(): ApiError {
  return storageFailure(new Error("the storage is closed"));
}

function tooSlow(limitMs: number): ApiError {
  const detail = `The read was stopped after ${limitMs / 1000} seconds. Narrow the filters, or ask for fewer rows.`;
  return new ApiError("read_too_slow", detail);
}
