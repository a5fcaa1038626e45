// Pruning in SQLite: deletes the old checkpoints of a thread, so that what is left stands alone.
// Invariants:
//   PR1. What can be gone on from stays: the newest checkpoint of the root, and of every subgraph that keeps a state of its
//        own or whose newest checkpoint is of the root's run or later (it may be in the middle of what the root waits for).
//   PR2. Before a row goes that a row which stays refers to, the values are copied over.
//   PR3. A big value stays while a checkpoint, a write or the input of a run that stays refers to it.
import type { Json, JsonObject } from "../../base/json.ts";
import type { Tx } from "../../agent/ports.ts";
import type { Database } from "./database.ts";

interface Head {
  readonly ns: string;
  readonly checkpointId: string;
  readonly runId: string;
  readonly body: string;
  readonly small: string;
}

export function pruneVerbs(db: Database): Pick<Tx, "pruneThread"> {
  return {
    pruneThread(threadId, at) {
      const heads = headsOf(db, threadId);
      const root = heads.find(({ ns }) => ns === "");
      const kept = heads.filter(
        ({ ns, runId }) => ns === "" || !ns.includes(":") || (root !== undefined && runId >= root.runId), // PR1
      );
      for (const head of kept) standAlone(db, threadId, head);
      const list = JSON.stringify(kept.map(({ ns, checkpointId }) => [ns, checkpointId]));
      const notKept = `thread_id = ? AND (ns, checkpoint_id) NOT IN
        (SELECT value ->> '$[0]', value ->> '$[1]' FROM json_each(?))`;
      const deleted = db.run(`DELETE FROM checkpoints WHERE ${notKept}`, threadId, list);
      db.run(`DELETE FROM writes WHERE ${notKept}`, threadId, list);
      db.run(`DELETE FROM heads WHERE ${notKept}`, threadId, list);
      deleteUnusedBlobs(db, threadId);
      db.run("UPDATE threads SET pruned_at = max(?, updated_at) WHERE thread_id = ?", at, threadId);
      return deleted;
    },
  };
}

function headsOf(db: Database, threadId: string): readonly Head[] {
  return db
    .all(
      "SELECT ns, checkpoint_id, run_id, body, small FROM checkpoints NATURAL JOIN heads WHERE thread_id = ?",
      threadId,
    )
    .map((row) => ({
      ns: String(row["ns"]),
      checkpointId: String(row["checkpoint_id"]),
      runId: String(row["run_id"]),
      body: String(row["body"]),
      small: String(row["small"]),
    }));
}

/** PR2. */
function standAlone(db: Database, threadId: string, { ns, checkpointId, body, small }: Head): void {
  const parsed = JSON.parse(body) as JsonObject & { readonly from: Readonly<Record<string, string>> };
  const elsewhere = Object.entries(parsed.from).filter(([, origin]) => origin !== "" && !origin.startsWith("#"));
  if (elsewhere.length === 0) return;
  const values = new Map(Object.entries(JSON.parse(small) as Record<string, Json>));
  const from = new Map(Object.entries(parsed.from));
  const steps = new Map<string, Readonly<Record<string, Json>>>();
  for (const [channel, origin] of elsewhere) {
    let step = steps.get(origin);
    if (step === undefined) {
      const query = "SELECT small FROM checkpoints WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?";
      step = JSON.parse(String(db.get(query, threadId, ns, origin)?.["small"])) as Record<string, Json>;
      steps.set(origin, step);
    }
    values.set(channel, step[channel] ?? null);
    from.set(channel, "");
  }
  db.run(
    "UPDATE checkpoints SET body = ?, small = ? WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?",
    JSON.stringify({ ...parsed, from: Object.fromEntries(from) }),
    JSON.stringify(Object.fromEntries(values)),
    threadId,
    ns,
    checkpointId,
  );
}

/** PR3. */
function deleteUnusedBlobs(db: Database, threadId: string): void {
  const used = new Set<string>();
  for (const { body } of db.all("SELECT body FROM checkpoints WHERE thread_id = ?", threadId)) {
    const { from } = JSON.parse(String(body)) as { readonly from: Readonly<Record<string, string>> };
    for (const origin of Object.values(from)) if (origin.startsWith("#")) used.add(origin.slice(1));
  }
  for (const { entries } of db.all("SELECT entries FROM writes WHERE thread_id = ?", threadId)) {
    for (const entry of JSON.parse(String(entries)) as readonly (readonly Json[])[]) {
      const reference = entry[3];
      if (typeof reference === "string") used.add(reference.slice(1));
    }
  }
  for (const { input } of db.all("SELECT input FROM runs WHERE thread_id = ? AND input LIKE '#%'", threadId)) {
    used.add(String(input).slice(1));
  }
  db.run(
    "DELETE FROM blobs WHERE thread_id = ? AND hash NOT IN (SELECT value FROM json_each(?))",
    threadId,
    JSON.stringify([...used]),
  );
}
