// Checkpoints in PostgreSQL, and the fence that rejects stale attempts.
// Invariants:
//   - A write counts only while its run is `running` in the attempt that made it. From before this check until the
//     commit it holds the thread's lock, as does every start of another attempt.
//   - The newest checkpoint of a namespace is the one written last: LangGraph's ids carry clock time, and a clock can
//     go back.
//   - A value exists once: a small one in the row of its step, a large one once per content and thread.
//   - For any number of checkpoints, their values and writes take one extra round trip, blobs of writes another.
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
import { storedStep } from "../../shared/stored-step.ts";
import type { Parameter, Row } from "../client/pool.ts";
import { threadKey } from "../client/lock-key.ts";
import { table } from "./shared/rows.ts";
import { isCurrent } from "./runs.ts";
import type { Sql } from "../client/transaction.ts";
import { toJsonText } from "../client/text-encoding.ts";
import { BLOB_BYTES, CHECKPOINT_BYTES, countStoredBytes, WRITES_BYTES } from "../../shared/stored-bytes.ts";

const CHECKPOINTS = table<Checkpoint>("checkpoints", {
  ...CHECKPOINT_COLUMNS,
  metadata: ["metadata", "searched-text"],
});
const REPLACING_CHECKPOINT = CHECKPOINTS.replacing("thread_id", "ns", "checkpoint_id");

const WRITES = table<TaskWrites>("writes", WRITES_COLUMNS);
const REPLACING_WRITES = WRITES.replacing("thread_id", "ns", "checkpoint_id", "run_id", "task_id");

const HEADS = table<Head>("heads", HEAD_COLUMNS);
const REPLACING_HEAD = HEADS.replacing("thread_id", "ns");

const BLOBS = table<Blob>("blobs", BLOB_COLUMNS);

/** The row in the head of a namespace; $1 thread, $2 namespace. */
const AT_HEAD = `thread_id = $1 AND ns = $2
  AND checkpoint_id = (SELECT checkpoint_id FROM holdpoint.heads WHERE thread_id = $1 AND ns = $2)`;
const BY_ID = "thread_id = $1 AND ns = $2 AND checkpoint_id = $3";

export function checkpointVerbs(db: Sql): CheckpointTx {
  return { ...readVerbs(db), ...writeVerbs(db) };
}

function readVerbs(
  db: Sql,
): Pick<CheckpointTx, "checkpoint" | "checkpointFingerprint" | "checkpoints" | "checkpointLine" | "storedBytes"> {
  const readRow = (columns: string, threadId: string, ns: string, id: string | null): Promise<Row | null> => {
    db.follow(threadKey(threadId));
    return id === null
      ? db.get(`SELECT ${columns} FROM holdpoint.checkpoints WHERE ${AT_HEAD}`, threadId, ns)
      : db.get(`SELECT ${columns} FROM holdpoint.checkpoints WHERE ${BY_ID}`, threadId, ns, id);
  };
  return {
    storedBytes: (threadId) => readStoredBytes(db, threadId),
    async checkpoint(threadId, ns, checkpointId) {
      const row = await readRow(CHECKPOINTS.columns, threadId, ns, checkpointId);
      return row === null ? null : ((await readStored(db, { threadId, ns }, [row]))[0] ?? null);
    },
    async checkpointFingerprint(threadId, checkpointId) {
      const fingerprint = (await readRow("fingerprint", threadId, "", checkpointId))?.["fingerprint"];
      return typeof fingerprint === "string" ? fingerprint : null;
    },
    async checkpoints(threadId, query) {
      const { ns, before, metadata, limit } = query;
      db.follow(threadKey(threadId));
      if ((await db.get(SKEWED, threadId, ns)) !== null)
        return readStored(db, { threadId, ns }, await readByWriting(db, threadId, query));
      const rows = await db.all(
        `SELECT ${CHECKPOINTS.columns} FROM holdpoint.checkpoints
         WHERE thread_id = $1 AND ns = $2 AND ($3::text IS NULL OR checkpoint_id < $3)
           AND ($4::text IS NULL OR metadata::jsonb @> $4::jsonb)
         ORDER BY checkpoint_id DESC LIMIT $5`,
        threadId,
        ns,
        before,
        metadata === null ? null : toJsonText(JSON.stringify(metadata)),
        limit,
      );
      return readStored(db, { threadId, ns }, rows);
    },
    async checkpointLine(threadId, ns, checkpointId, { limit, channels }) {
      db.follow(threadKey(threadId));
      const rows = await db.all(
        `WITH RECURSIVE line AS (
           SELECT ${CHECKPOINTS.columns}, 1 AS depth FROM holdpoint.checkpoints WHERE ${BY_ID}
           UNION ALL
           SELECT ${CHECKPOINTS.chooseColumns("c")}, depth + 1 FROM line JOIN holdpoint.checkpoints AS c
             ON c.thread_id = $1 AND c.ns = $2 AND c.checkpoint_id = line.parent_id WHERE depth < $4)
         SELECT ${CHECKPOINTS.columns} FROM line ORDER BY depth`,
        threadId,
        ns,
        checkpointId,
        limit,
      );
      return readStored(db, { threadId, ns }, rows, new Set(channels));
    },
  };
}

const SKEWED = skewSql("holdpoint.", ["$1", "$2"]);

/** The same page, where ids do not tell the order of writing. */
async function readByWriting(db: Sql, threadId: string, query: CheckpointQuery): Promise<readonly Row[]> {
  const { ns, limit, metadata } = query;
  const ids = await db.all(
    `SELECT c.checkpoint_id, c.parent_id, h.checkpoint_id IS NOT NULL AS is_head FROM holdpoint.checkpoints AS c
     LEFT JOIN holdpoint.heads AS h USING (thread_id, ns, checkpoint_id) WHERE c.thread_id = $1 AND c.ns = $2`,
    threadId,
    ns,
  );
  const written = ids.map(({ checkpoint_id: id, parent_id: parentId }) => ({
    id: String(id),
    parentId: typeof parentId === "string" ? parentId : null,
  }));
  const newest = ids.find(({ is_head: isHead }) => isHead === true)?.["checkpoint_id"];
  const order = choosePage(sortByWriting(written, String(newest)), query, metadata !== null);
  const rows = await db.all(
    `SELECT ${CHECKPOINTS.columns} FROM holdpoint.checkpoints WHERE thread_id = $1 AND ns = $2
       AND checkpoint_id = ANY($3::text[]) AND ($4::text IS NULL OR metadata::jsonb @> $4::jsonb)`,
    threadId,
    ns,
    order,
    metadata === null ? null : toJsonText(JSON.stringify(metadata)),
  );
  const place = new Map(order.map((id, at) => [id, at]));
  const at = (row: Row): number => place.get(String(row["checkpoint_id"])) ?? 0;
  const sorted = rows.toSorted((one, other) => at(one) - at(other));
  return sorted.slice(0, limit ?? sorted.length);
}

function writeVerbs(db: Sql): Pick<CheckpointTx, "putWriteSet" | "putRunWrites" | "deleteRunData"> {
  const store = (set: WriteSet): void => {
    for (const { threadId } of [...set.checkpoints, ...set.writes, ...set.blobs]) db.hold(threadKey(threadId));
    BLOBS.insert(
      db,
      keepLast(set.blobs, ({ threadId, hash }) => [threadId, hash]),
      "DO NOTHING",
    );
    const checkpoints = keepLast(set.checkpoints, ({ threadId, ns, checkpointId }) => [threadId, ns, checkpointId]);
    CHECKPOINTS.insert(db, checkpoints, REPLACING_CHECKPOINT);
    const writes = keepLast(set.writes, (one) => [one.threadId, one.ns, one.checkpointId, one.runId, one.taskId]);
    WRITES.insert(db, writes, REPLACING_WRITES);
    HEADS.insert(
      db,
      keepLast(set.checkpoints, ({ threadId, ns }) => [threadId, ns]),
      REPLACING_HEAD,
    );
  };
  return {
    putWriteSet: store,
    async putRunWrites(run, set) {
      if (!(await isCurrent(db, run))) return false;
      store(set);
      return true;
    },
    deleteRunData(threadId, runId) {
      db.hold(threadKey(threadId));
      db.run("DELETE FROM holdpoint.checkpoints WHERE thread_id = $1 AND run_id = $2", threadId, runId);
      db.run("DELETE FROM holdpoint.writes WHERE thread_id = $1 AND run_id = $2", threadId, runId);
      db.run(
        `DELETE FROM holdpoint.heads AS h WHERE h.thread_id = $1 AND NOT EXISTS (
           SELECT 1 FROM holdpoint.checkpoints AS c
           WHERE c.thread_id = h.thread_id AND c.ns = h.ns AND c.checkpoint_id = h.checkpoint_id)`,
        threadId,
      );
      db.run(
        `INSERT INTO holdpoint.heads (thread_id, ns, checkpoint_id)
         SELECT thread_id, ns, max(checkpoint_id) FROM holdpoint.checkpoints WHERE thread_id = $1 GROUP BY thread_id, ns
         ON CONFLICT (thread_id, ns) DO NOTHING`,
        threadId,
      );
    },
  };
}

/** The last of each key: one INSERT accepts a key once. */
function keepLast<T>(list: readonly T[], key: (one: T) => readonly string[]): readonly T[] {
  if (list.length < 2) return list;
  return [...new Map(list.map((one) => [JSON.stringify(key(one)), one])).values()];
}

/** References of the rows of one namespace: steps and blobs with their values, and their writes. */
const PARTS = `
  SELECT 'step' AS what, checkpoint_id AS id, '' AS run_id, '' AS task_id, '' AS task_path, small AS data FROM holdpoint.checkpoints
    WHERE thread_id = $1 AND ns = $2 AND checkpoint_id = ANY($3::text[])
  UNION ALL SELECT 'blob', hash, '', '', '', data FROM holdpoint.blobs WHERE thread_id = $1 AND hash = ANY($4::text[])
  UNION ALL SELECT 'writes', checkpoint_id, run_id, task_id, task_path, entries FROM holdpoint.writes
    WHERE thread_id = $1 AND ns = $2 AND checkpoint_id = ANY($5::text[])`;

/** The table, the column and the row of one of PARTS. */
function placePart(
  { threadId, ns }: Pick<Checkpoint, "threadId" | "ns">,
  { what, id, run_id, task_id }: Row,
): readonly [table: string, column: string, row: Row] {
  if (what === "blob") return ["blobs", "data", { thread_id: threadId, hash: id }];
  const row = { thread_id: threadId, ns, checkpoint_id: id };
  return what === "step" ? ["checkpoints", "small", row] : ["writes", "entries", { ...row, run_id, task_id }];
}

interface Body {
  readonly from: Readonly<Record<string, string>>;
}

async function readStored(
  db: Sql,
  { threadId, ns }: { readonly threadId: string; readonly ns: string },
  rows: readonly Row[],
  channels: ReadonlySet<string> | null = null,
): Promise<readonly StoredCheckpoint[]> {
  if (rows.length === 0) return [];
  const read = rows.map((row) => {
    const checkpoint = CHECKPOINTS.read(db, row);
    const { from } = JSON.parse(checkpoint.body) as Body;
    return { checkpoint, from: Object.entries(from).filter(([channel]) => channels?.has(channel) !== false) };
  });
  const steps = new Map(read.map(({ checkpoint }) => [checkpoint.checkpointId, storedStep(checkpoint.small)]));
  const origins = new Set(read.flatMap(({ from }) => from.map(([, origin]) => origin)));
  const blobs = new Map<string, Stored>();
  const writes: TaskWrites[] = [];
  const hashes = [...origins].filter((origin) => origin.startsWith("#")).map((origin) => origin.slice(1));
  const missing = [...origins].filter((origin) => origin !== "" && !origin.startsWith("#") && !steps.has(origin));
  const ids = read.map(({ checkpoint }) => checkpoint.checkpointId);
  for (const part of await db.all(PARTS, threadId, ns, missing, hashes, ids)) {
    const id = String(part["id"]);
    const [table, column, place] = placePart({ threadId, ns }, part);
    const data = String(db.sealing.open(table, column, place, part["data"]));
    if (part["what"] === "step") steps.set(id, storedStep(data));
    else if (part["what"] === "blob") blobs.set(`#${id}`, parseStored(data));
    else {
      const [runId, taskId, taskPath] = [String(part["run_id"]), String(part["task_id"]), String(part["task_path"])];
      writes.push({ threadId, ns, checkpointId: id, runId, taskId, taskPath, entries: data });
    }
  }
  await readBlobs(db, threadId, referencesIn(writes), blobs);
  return read.map(({ checkpoint, from }) => {
    const values = new Map<string, Stored>();
    for (const [channel, origin] of from) {
      const stepId = origin === "" ? checkpoint.checkpointId : origin;
      const value = origin.startsWith("#") ? blobs.get(origin) : steps.get(stepId)?.get(channel);
      if (value === undefined)
        throw new Error(`channel ${channel} of checkpoint ${checkpoint.checkpointId} is missing`);
      values.set(channel, value);
    }
    const own = writes
      .filter(({ checkpointId }) => checkpointId === checkpoint.checkpointId)
      .toSorted((a, b) => compare(a.runId, b.runId) || compare(a.taskId, b.taskId));
    const references = referencesIn(own);
    return { checkpoint, values, writes: own, blobs: new Map([...blobs].filter(([name]) => references.has(name))) };
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function readBlobs(
  db: Sql,
  threadId: string,
  references: ReadonlySet<string>,
  blobs: Map<string, Stored>,
): Promise<void> {
  const hashes: Parameter = [...references].filter((name) => !blobs.has(name)).map((name) => name.slice(1));
  if (hashes.length === 0) return;
  const sql = "SELECT hash, data FROM holdpoint.blobs WHERE thread_id = $1 AND hash = ANY($2::text[])";
  for (const { hash, data } of await db.all(sql, threadId, hashes)) {
    const text = db.sealing.open("blobs", "data", { thread_id: threadId, hash }, data);
    blobs.set(`#${String(hash)}`, parseStored(String(text)));
  }
}

/** Entries are `[index, channel, value]`, or `[index, channel, null, "#<hash>"]` for a value in a blob. */
function referencesIn(writes: readonly TaskWrites[]): ReadonlySet<string> {
  const references = new Set<string>();
  for (const { entries } of writes) {
    if (!entries.includes(',"#')) continue;
    for (const entry of JSON.parse(entries) as readonly (readonly unknown[])[]) {
      const reference = entry[3];
      if (typeof reference === "string") references.add(reference);
    }
  }
  return references;
}

async function readStoredBytes(db: Sql, threadId: string): Promise<StoredBytes> {
  db.follow(threadKey(threadId));
  return countStoredBytes(db.sealing, {
    checkpoints: await db.all(`SELECT ${CHECKPOINT_BYTES} FROM holdpoint.checkpoints WHERE thread_id = $1`, threadId),
    blobs: await db.all(`SELECT ${BLOB_BYTES} FROM holdpoint.blobs WHERE thread_id = $1`, threadId),
    writes: await db.get(`SELECT ${WRITES_BYTES} FROM holdpoint.writes WHERE thread_id = $1`, threadId),
  });
}
