// Stored bytes: the rows of both storages that count what a thread takes → the result.
import type { StoredBytes } from "../../ports/ports.ts";

type Row = Readonly<Record<string, unknown>>;

/** @param channels rows of `channel` and `bytes`; @param writes rows that have the values in `entries` */
export function bytesFrom(checkpoints: Row | null, channels: readonly Row[], writes: Row | null): StoredBytes {
  const amount = (row: Row | null) => ({ count: Number(row?.["count"] ?? 0), bytes: Number(row?.["bytes"] ?? 0) });
  return {
    checkpoints: amount(checkpoints),
    channels: Object.fromEntries(channels.map((row) => [String(row["channel"]), Number(row["bytes"])])),
    writes: amount(writes),
  };
}
