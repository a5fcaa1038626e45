// Checkpoints in SQLite, and the fence that rejects stale attempts.
// Invariants:
//   - A write counts only while its run is `running` in the attempt that made it.
//   sqlite/checkpoints.2. The newest checkpoint of a namespace is the one written last: LangGraph's ids carry clock
//        time, and a clock can go back. Lists have the same order (shared/written-order.ts).
//   - A value exists once: a small one in the row of its step, a large one once per content and thread.
import {
  type Blob,
  type Checkpoint,
  parseStored,
  type Stored,
  type TaskWrites,
  type WriteSet,
} from "../../../model/model.ts";
import type { CheckpointQuery, CheckpointTx, StoredCheckpoint, StoredBytes } from "../../../ports/ports.ts";
import { CHECKPOINT_COLUMNS, WRITES_COLUMNS, HEAD_COLUMNS, BLOB_COLUMNS, type Head } from "../../shared/columns.ts";
import { choosePage, skewSql, sortByWriting } from "../../shared/written-order.ts";
import { storedStep, type Step } from "../../shared/stored-step.ts";
import type { Database, Row } from "../client/database.ts";
import type { KeptRow } from "../client/kept-rows.ts";
import { table } from "./shared/rows.ts";
import { isCurrent } from "./runs.ts";
import { BLOB_BYTES, CHECKPOINT_BYTES, countStoredBytes, WRITES_BYTES } from "../../shared/stored-bytes.ts";

const CHECKPOINTS = table<Checkpoint>("checkpoints", CHECKPOINT_COLUMNS);

const WRITES = table<TaskWrites>("writes", WRITES_COLUMNS);

const HEADS = table<Head>("heads", HEAD_COLUMNS);

const BLOBS = table<Blob>("blobs", BLOB_COLUMNS);

export function checkpointVerbs(db: Database): CheckpointTx {
  return { ...readVerbs(db), ...writeVerbs(db) };
}

function readVerbs(
  db: Database,
): Pick<CheckpointTx, "checkpoint" | "checkpointFingerprint" | "checkpoints" | "checkpointLine" | "storedBytes"> {
  return {
    storedBytes: (threadId) => readStoredBytes(db, threadId),
    checkpoint(threadId, ns, checkpointId) {
      const row = checkpointId === null ? head(db, threadId, ns) : rowById(db, threadId, ns, checkpointId);
      return row === null ? null : readStored(db, row);
    },
    checkpointFingerprint(threadId, checkpointId) {
      const row =
        checkpointId === null
          ? head(db, threadId, "") // read whole: the run that starts here reads it next
          : db.get(
              "SELECT fingerprint FROM checkpoints WHERE thread_id = ? AND ns = '' AND checkpoint_id = ?",
              threadId,
              checkpointId,
            );
      return typeof row?.["fingerprint"] === "string" ? row["fingerprint"] : null;
    },
    checkpoints(threadId, query) {
      if (isSkewed(db, threadId, query.ns)) return readByWriting(db, threadId, query);
      const rows = db.all(
        `SELECT ${CHECKPOINTS.columns} FROM checkpoints
         WHERE thread_id = ? AND ns = ? AND (? IS NULL OR checkpoint_id < ?) AND (? IS NULL OR json_contains(metadata, ?))
         ORDER BY checkpoint_id DESC LIMIT ?`,
        threadId,
        query.ns,
        query.before,
        query.before,
        query.metadata === null ? null : JSON.stringify(query.metadata),
        query.metadata === null ? null : JSON.stringify(query.metadata),
        query.limit ?? -1,
      );
      return rows.map((row) => readStored(db, row));
    },
    checkpointLine(threadId, ns, checkpointId, { limit, channels }) {
      const line: StoredCheckpoint[] = [];
      for (let id: string | null = checkpointId; id !== null && line.length < limit;) {
        const row = rowById(db, threadId, ns, id);
        if (row === null) break;
        line.push(readStored(db, row, new Set(channels)));
        id = line.at(-1)?.checkpoint.parentId ?? null;
      }
      return line;
    },
  };
}

const SKEWED = skewSql("", ["?1", "?2"]);

function isSkewed(db: Database, threadId: string, ns: string): boolean {
  return db.get(SKEWED, threadId, ns) !== null;
}

/** The same page, where ids do not tell the order of writing. */
function readByWriting(db: Database, threadId: string, query: CheckpointQuery): readonly StoredCheckpoint[] {
  const { ns, limit } = query;
  const ids = db.all("SELECT checkpoint_id, parent_id FROM checkpoints WHERE thread_id = ? AND ns = ?", threadId, ns);
  const written = ids.map(({ checkpoint_id: id, parent_id: parentId }) => ({
    id: String(id),
    parentId: typeof parentId === "string" ? parentId : null,
  }));
  const newest = head(db, threadId, ns)?.["checkpoint_id"];
  const metadata = query.metadata === null ? null : JSON.stringify(query.metadata);
  const order = choosePage(sortByWriting(written, String(newest)), query, metadata !== null);
  const rows = db.all(
    `SELECT ${CHECKPOINTS.columns} FROM checkpoints WHERE thread_id = ? AND ns = ?
       AND checkpoint_id IN (SELECT value FROM json_each(?)) AND (? IS NULL OR json_contains(metadata, ?))`,
    threadId,
    ns,
    JSON.stringify(order),
    metadata,
    metadata,
  );
  const place = new Map(order.map((id, at) => [id, at]));
  const at = (row: Row): number => place.get(String(row["checkpoint_id"])) ?? 0;
  const sorted = rows.toSorted((one, other) => at(one) - at(other));
  return sorted.slice(0, limit ?? sorted.length).map((row) => readStored(db, row));
}

function writeVerbs(db: Database): Pick<CheckpointTx, "putWriteSet" | "putRunWrites" | "deleteRunData"> {
  const store = (set: WriteSet): void => {
    BLOBS.insert(db, set.blobs, "INSERT OR IGNORE");
    CHECKPOINTS.insert(db, set.checkpoints, "INSERT OR REPLACE");
    WRITES.insert(db, set.writes, "INSERT OR REPLACE");
    const last = new Map(set.checkpoints.map((checkpoint) => [`${checkpoint.threadId}/${checkpoint.ns}`, checkpoint]));
    HEADS.insert(db, [...last.values()], "INSERT OR REPLACE"); // sqlite/checkpoints.2
    for (const { threadId } of last.values()) db.kept.heads.delete(threadId);
  };
  return {
    putWriteSet: store,
    putRunWrites({ runId, attempt }, set) {
      if (!isCurrent(db, { runId, attempt })) return false;
      store(set);
      return true;
    },
    deleteRunData(threadId, runId) {
      db.kept.heads.delete(threadId);
      db.run("DELETE FROM checkpoints WHERE thread_id = ? AND run_id = ?", threadId, runId);
      db.run("DELETE FROM writes WHERE thread_id = ? AND run_id = ?", threadId, runId);
      db.run(
        `DELETE FROM heads WHERE thread_id = ? AND NOT EXISTS (
           SELECT 1 FROM checkpoints AS c
           WHERE c.thread_id = heads.thread_id AND c.ns = heads.ns AND c.checkpoint_id = heads.checkpoint_id)`,
        threadId,
      );
      db.run(
        `INSERT OR IGNORE INTO heads (thread_id, ns, checkpoint_id)
         SELECT thread_id, ns, max(checkpoint_id) FROM checkpoints WHERE thread_id = ? GROUP BY thread_id, ns`,
        threadId,
      );
    },
  };
}

/** The newest checkpoint of a namespace (sqlite/checkpoints.2). */
function head(db: Database, threadId: string, ns: string): Row | null {
  const kept = ns === "" ? db.kept.heads.get(threadId) : undefined;
  if (kept !== undefined) return kept;
  const sql = `SELECT ${CHECKPOINTS.columns} FROM checkpoints NATURAL JOIN heads WHERE thread_id = ? AND ns = ?`;
  const row = db.get(sql, threadId, ns) as KeptRow | null;
  if (row !== null && ns === "") db.kept.heads.set(threadId, row);
  return row;
}

function rowById(db: Database, threadId: string, ns: string, checkpointId: string): Row | null {
  return db.get(
    `SELECT ${CHECKPOINTS.columns} FROM checkpoints WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?`,
    threadId,
    ns,
    checkpointId,
  );
}

/** @param channels the channels to read; all by default */
function readStored(db: Database, row: Row, channels: ReadonlySet<string> | null = null): StoredCheckpoint {
  const checkpoint = CHECKPOINTS.read(db, row);
  const { from } = JSON.parse(checkpoint.body) as { readonly from: Readonly<Record<string, string>> };
  const values = new Map<string, Stored>();
  const wanted = Object.entries(from).filter(([channel]) => channels?.has(channel) !== false);
  const steps = readSteps(db, checkpoint, new Set(wanted.map(([, origin]) => origin)));
  for (const [channel, origin] of wanted) {
    const value = origin.startsWith("#") ? readBlob(db, checkpoint.threadId, origin) : steps.get(origin)?.get(channel);
    if (value === undefined) throw new Error(`channel ${channel} of checkpoint ${checkpoint.checkpointId} is missing`);
    values.set(channel, value);
  }
  const writes = db
    .all(
      `SELECT ${WRITES.columns} FROM writes WHERE thread_id = ? AND ns = ? AND checkpoint_id = ? ORDER BY run_id`,
      checkpoint.threadId,
      checkpoint.ns,
      checkpoint.checkpointId,
    )
    .map((row) => WRITES.read(db, row));
  return { checkpoint, values, writes, blobs: readBlobs(db, checkpoint.threadId, writes) };
}

/** The small values of the steps that a checkpoint refers to. */
function readSteps(db: Database, checkpoint: Checkpoint, origins: ReadonlySet<string>): ReadonlyMap<string, Step> {
  const steps = new Map([["", storedStep(checkpoint.small)]]);
  const ids = [...origins].filter((origin) => origin !== "" && !origin.startsWith("#"));
  if (ids.length === 0) return steps;
  const rows = db.all(
    `SELECT checkpoint_id, small FROM checkpoints WHERE thread_id = ? AND ns = ?
       AND checkpoint_id IN (SELECT value FROM json_each(?))`,
    checkpoint.threadId,
    checkpoint.ns,
    JSON.stringify(ids),
  );
  for (const row of rows) {
    const place = { thread_id: checkpoint.threadId, ns: checkpoint.ns, checkpoint_id: row["checkpoint_id"] };
    const small = db.sealing.open("checkpoints", "small", place, row["small"]);
    steps.set(String(row["checkpoint_id"]), storedStep(String(small)));
  }
  return steps;
}

function readBlob(db: Database, threadId: string, reference: string): Stored | undefined {
  const hash = reference.slice(1);
  const row = db.get("SELECT data FROM blobs WHERE thread_id = ? AND hash = ?", threadId, hash);
  const data = db.sealing.open("blobs", "data", { thread_id: threadId, hash }, row?.["data"] ?? null);
  return typeof data === "string" ? parseStored(data) : undefined;
}

/** Entries are `[index, channel, value]`, or `[index, channel, null, "#<hash>"]` for a value in a blob. */
function readBlobs(db: Database, threadId: string, writes: readonly TaskWrites[]): ReadonlyMap<string, Stored> {
  const blobs = new Map<string, Stored>();
  for (const { entries } of writes) {
    if (!entries.includes(',"#')) continue;
    for (const entry of JSON.parse(entries) as readonly (readonly unknown[])[]) {
      const reference = entry[3];
      if (typeof reference !== "string" || blobs.has(reference)) continue;
      const blob = readBlob(db, threadId, reference);
      if (blob !== undefined) blobs.set(reference, blob);
    }
  }
  return blobs;
}

function readStoredBytes(db: Database, threadId: string): StoredBytes {
  return countStoredBytes(db.sealing, {
    checkpoints: db.all(`SELECT ${CHECKPOINT_BYTES} FROM checkpoints WHERE thread_id = ?`, threadId),
    blobs: db.all(`SELECT ${BLOB_BYTES} FROM blobs WHERE thread_id = ?`, threadId),
    writes: db.get(`SELECT ${WRITES_BYTES} FROM writes WHERE thread_id = ?`, threadId),
  });
}
