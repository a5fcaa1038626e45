// Thread: a worker thread of Node as the few verbs that the link needs.
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker, WorkerSetup } from "./messages.ts";

export interface Thread {
  readonly post: (messages: readonly ToWorker[], moved: ArrayBuffer[]) => void;
  /** CPU time of the thread so far. */
  readonly cpuSeconds: () => Promise<number>;
  readonly end: () => Promise<void>;
}

export interface ThreadEvents {
  readonly onMessages: (messages: readonly FromWorker[]) => void;
  /** The thread ended without end(). Called once. */
  readonly onCrash: (reason: string) => void;
}

export type StartThread = (number: number, setup: WorkerSetup, events: ThreadEvents) => Thread;

const ENTRY = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** `entry`: another file, for tests of crashes. */
export function threadStarter(entry: URL = ENTRY): StartThread {
  return (number, setup, { onCrash, onMessages }) => {
    const worker = new Worker(entry, { workerData: setup, name: `collector-${number}` });
    let isEnding = false;
    let reason = "";
    worker.on("message", onMessages);
    worker.on("error", (error) => (reason = error instanceof Error ? (error.stack ?? error.message) : String(error)));
    worker.on("exit", (code) => {
      if (!isEnding) onCrash(reason === "" ? `it ended with code ${code}` : reason);
    });
    return {
      post: (messages, moved) => worker.postMessage(messages, moved),
      async cpuSeconds() {
        const { user, system } = await worker.cpuUsage();
        return (user + system) / 1e6;
      },
      async end() {
        isEnding = true;
        await worker.terminate();
      },
    };
  };
}
