// Reader thread: long reads on a read-only connection, one for each message.
import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "@holdpoint/base/api-error.ts";
import { callVerb, type ReadCall } from "../../shared/long-reads.ts";
import { openReadOnly } from "../client/database.ts";
import { isStorageFault } from "../client/storage-faults.ts";
import { createVerbs } from "../tables/verbs.ts";
import type { ReadReply } from "./reader.ts";

const db = openReadOnly(String(workerData));
const tx = createVerbs(db);

// The next call comes after the reply.
parentPort?.on("message", (call: ReadCall) => void read(call).then((reply) => parentPort?.postMessage(reply, [])));

async function read(call: ReadCall): Promise<ReadReply> {
  db.kept.dropAll(); // the other connection writes
  try {
    db.exec("BEGIN");
    return { result: await callVerb(tx, call), failure: null };
  } catch (error) {
    return { result: null, failure: { message: describeError(error).message, isFault: isStorageFault(error) } };
  } finally {
    if (db.inTransaction()) db.exec("ROLLBACK");
  }
}
