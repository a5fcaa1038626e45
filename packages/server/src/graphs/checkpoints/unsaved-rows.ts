// Unsaved rows: reads rows before their commit, so that an edit sees its own result before it is stored.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Checkpoint, Stored, WriteSet } from "../../model/model.ts";
import type { CheckpointTx, StoredCheckpoint } from "../../ports/ports.ts";
import type { Codec } from "./codec/value-codec.ts";

/** The transaction, with the checkpoints of `set` before its own. */
export function withPreview<Given extends CheckpointTx>(tx: Given, set: WriteSet, codec: Codec): Given {
  const preview = async (row: Checkpoint): Promise<StoredCheckpoint> => {
    const parent = row.parentId === null ? null : await stored(row.threadId, row.ns, row.parentId);
    const small = codec.parse(row.small);
    const values = new Map<string, Stored>();
    const { from } = JSON.parse(row.body) as { readonly from: Readonly<Record<string, string>> };
    for (const [channel, origin] of Object.entries(from)) {
      const blob = set.blobs.find(({ hash }) => `#${hash}` === origin);
      const own = (small.json as JsonObject)[channel];
      const value =
        origin === "" && own !== undefined
          ? { json: own, tagged: small.tagged }
          : blob === undefined
            ? parent?.values.get(channel)
            : codec.parse(blob.data);
      if (value !== undefined) values.set(channel, value);
    }
    return withWrites({ checkpoint: row, values, writes: [], blobs: new Map() });
  };
  /** An edit also writes for the checkpoint before it. */
  const withWrites = (stored: StoredCheckpoint): StoredCheckpoint => {
    const { ns, checkpointId } = stored.checkpoint;
    const writes = set.writes.filter((one) => one.ns === ns && one.checkpointId === checkpointId);
    if (writes.length === 0) return stored;
    const blobs = new Map(set.blobs.map(({ hash, data }) => [`#${hash}`, codec.parse(data)]));
    return { ...stored, writes: [...stored.writes, ...writes], blobs: new Map([...stored.blobs, ...blobs]) };
  };
  const stored: CheckpointTx["checkpoint"] = async (threadId, ns, checkpointId) => {
    const rows = set.checkpoints.filter((row) => row.ns === ns);
    const row = checkpointId === null ? rows.at(-1) : rows.find((one) => one.checkpointId === checkpointId);
    if (row !== undefined) return preview(row);
    const found = await tx.checkpoint(threadId, ns, checkpointId);
    return found === null ? null : withWrites(found);
  };
  const checkpointLine: CheckpointTx["checkpointLine"] = async (threadId, ns, checkpointId, { limit, channels }) => {
    const line: StoredCheckpoint[] = [];
    let next: string | null = checkpointId;
    for (; next !== null && line.length < limit; next = line.at(-1)?.checkpoint.parentId ?? null) {
      const row = set.checkpoints.find((one) => one.ns === ns && one.checkpointId === next);
      if (row === undefined) break;
      line.push(await preview(row));
    }
    if (next === null || line.length === limit) return line;
    const older = await tx.checkpointLine(threadId, ns, next, { limit: limit - line.length, channels });
    return [...line, ...older.map(withWrites)];
  };
  return { ...tx, checkpoint: stored, checkpointLine };
}
