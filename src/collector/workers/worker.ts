// Worker: the entry of a worker thread.
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { steady } from "../../base/steady-clock.ts";
import type { FromWorker, ToWorker, WorkerSetup } from "./messages.ts";
import { createShares } from "./shares.ts";

const port = parentPort;
if (port === null) throw new Error("this file is the entry of a worker thread");
const shares = createShares(workerData as WorkerSetup, {
  clock: systemClock,
  ageClock: steady(systemClock),
  post: (messages: readonly FromWorker[], moved: ArrayBuffer[]) => port.postMessage(messages, moved),
});
port.on("message", (messages: readonly ToWorker[]) => messages.forEach(shares.take));
