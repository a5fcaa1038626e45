// The bytes that the checkpoints of a thread take in SQLite.
import type { StoredBytes } from "../../../ports/ports.ts";
import { BLOB_BYTES, CHECKPOINT_BYTES, countStoredBytes, WRITES_BYTES } from "../../shared/stored-bytes.ts";
import type { Database } from "../client/database.ts";

export function readStoredBytes(db: Database, threadId: string): StoredBytes {
  return countStoredBytes(db.sealing, {
    checkpoints: db.all(`SELECT ${CHECKPOINT_BYTES} FROM checkpoints WHERE thread_id = ?`, threadId),
    blobs: db.all(`SELECT ${BLOB_BYTES} FROM blobs WHERE thread_id = ?`, threadId),
    writes: db.get(`SELECT ${WRITES_BYTES} FROM writes WHERE thread_id = ?`, threadId),
  });
}
