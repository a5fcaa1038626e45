// Reader thread: long reads on a read-only connection, one for each message.
import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "@holdpoint/base/api-error.ts";
import { SealedValueError } from "@holdpoint/base/keyring.ts";
import { createSealing } from "../../shared/sealing.ts";
import { callVerb, type ReadCall } from "../../shared/long-reads.ts";
import { openReadOnly } from "../client/database.ts";
import { isStorageFault } from "../client/storage-faults.ts";
import { createVerbs } from "../tables/verbs.ts";
import type { ReaderData, ReadReply } from "./reader.ts";

const { path, keys } = workerData as ReaderData;
const db = openReadOnly(path, createSealing(keys, "bytes"));
const tx = createVerbs(db);

// The next call comes after the reply.
parentPort?.on("message", (call: ReadCall) => void read(call).then((reply) => parentPort?.postMessage(reply, [])));

async function read(call: ReadCall): Promise<ReadReply> {
  db.kept.dropAll(); // the other connection writes
  try {
    db.exec("BEGIN");
    return { result: await callVerb(tx, call), failure: null };
  } catch (error) {
    const kind = error instanceof SealedValueError ? "sealed" : isStorageFault(error) ? "fault" : "other";
    return { result: null, failure: { message: describeError(error).message, kind } };
  } finally {
    if (db.inTransaction()) db.exec("ROLLBACK");
  }
}
