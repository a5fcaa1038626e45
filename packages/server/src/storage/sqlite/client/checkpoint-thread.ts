// Checkpoint thread: one pass over the write-ahead log for each message (log-checkpoints.ts).
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { CheckpointPass } from "./log-checkpoints.ts";

const connection = new DatabaseSync(String(workerData));
connection.exec("PRAGMA synchronous = FULL");
const checkpoint = connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", () => parentPort?.postMessage(pass(), []));

function pass(): CheckpointPass {
  try {
    const { log, checkpointed } = checkpoint.get() ?? {};
    return { logged: Number(log), moved: Number(checkpointed), failure: null };
  } catch (error) {
    return { logged: 0, moved: 0, failure: describeError(error).message };
  }
}
