// Preview: rows that are not stored yet, read as if they were. So an edit can look at what it makes before it is made.
import type { JsonObject } from "../base/json.ts";
import type { Checkpoint, Stored, WriteSet } from "../agent/model.ts";
import type { StoredCheckpoint, Tx } from "../agent/ports.ts";
import type { Codec } from "./codec.ts";

/** The transaction, whose checkpoints are those of `set` before its own. */
export function withPreview(tx: Tx, set: WriteSet, codec: Codec): Tx {
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
    const writes = set.writes.filter(({ ns, checkpointId }) => ns === row.ns && checkpointId === row.checkpointId);
    return { checkpoint: row, values, writes, blobs: new Map() };
  };
  const stored: Tx["checkpoint"] = async (threadId, ns, checkpointId) => {
    const rows = set.checkpoints.filter((row) => row.ns === ns);
    const row = checkpointId === null ? rows.at(-1) : rows.find((one) => one.checkpointId === checkpointId);
    return row === undefined ? tx.checkpoint(threadId, ns, checkpointId) : preview(row);
  };
  return { ...tx, checkpoint: stored };
}
