// Stored bytes: the rows of a thread that count what it takes → the result, for both storages. Small values stand in the
// rows of their steps; a large one is a blob that a checkpoint names as `#<hash>`.
import type { StoredBytes } from "../../ports/ports.ts";
import type { Sealing } from "./sealing.ts";

type Row = Readonly<Record<string, unknown>>;

/** Condition: thread_id. */
export const CHECKPOINT_BYTES =
  "thread_id, ns, checkpoint_id, body, small, octet_length(body) + octet_length(metadata) AS bytes";
export const BLOB_BYTES = "hash, octet_length(data) AS bytes";
export const WRITES_BYTES = "count(*) AS count, sum(octet_length(entries)) AS bytes";

export function countStoredBytes(
  sealing: Sealing,
  { checkpoints, blobs, writes }: { checkpoints: readonly Row[]; blobs: readonly Row[]; writes: Row | null },
): StoredBytes {
  const sizes = new Map(blobs.map(({ hash, bytes }) => [`#${String(hash)}`, Number(bytes)]));
  const channels = new Map<string, number>();
  const named = new Set<string>();
  const add = (channel: string, bytes: number): void =>
    void channels.set(channel, (channels.get(channel) ?? 0) + bytes);
  for (const row of checkpoints) {
    const small = String(sealing.open("checkpoints", "small", row, row["small"]));
    for (const [channel, value] of Object.entries(JSON.parse(small) as Record<string, unknown>))
      add(channel, Buffer.byteLength(JSON.stringify(value)));
    const { from = {} } = JSON.parse(String(row["body"])) as { readonly from?: Readonly<Record<string, string>> };
    for (const [channel, origin] of Object.entries(from)) {
      const bytes = sizes.get(origin);
      if (bytes === undefined || named.has(`${channel} ${origin}`)) continue;
      named.add(`${channel} ${origin}`);
      add(channel, bytes);
    }
  }
  return {
    checkpoints: { count: checkpoints.length, bytes: checkpoints.reduce((sum, row) => sum + Number(row["bytes"]), 0) },
    channels: Object.fromEntries([...channels].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    writes: { count: Number(writes?.["count"] ?? 0), bytes: Number(writes?.["bytes"] ?? 0) },
  };
}
