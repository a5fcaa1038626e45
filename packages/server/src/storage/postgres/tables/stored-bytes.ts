// The bytes that the checkpoints of a thread take in PostgreSQL.
import type { StoredBytes } from "../../../ports/ports.ts";
import { BLOB_BYTES, CHECKPOINT_BYTES, countStoredBytes, WRITES_BYTES } from "../../shared/stored-bytes.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";

export async function readStoredBytes(db: Sql, threadId: string): Promise<StoredBytes> {
  db.follow(threadKey(threadId));
  return countStoredBytes(db.sealing, {
    checkpoints: await db.all(`SELECT ${CHECKPOINT_BYTES} FROM holdpoint.checkpoints WHERE thread_id = $1`, threadId),
    blobs: await db.all(`SELECT ${BLOB_BYTES} FROM holdpoint.blobs WHERE thread_id = $1`, threadId),
    writes: await db.get(`SELECT ${WRITES_BYTES} FROM holdpoint.writes WHERE thread_id = $1`, threadId),
  });
}
