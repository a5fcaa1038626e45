// Stored rows → what the library reads. The inverse of the saver's encoding, in one place for runs and state views.
import type { StoredCheckpoint } from "../agent/ports.ts";
import type { Json } from "../base/json.ts";
import type { Codec } from "./codec.ts";

/** The library's checkpoint, as far as it is ours to keep. */
export interface LibraryCheckpoint {
  readonly v: number;
  readonly id: string;
  readonly ts: string;
  readonly channel_values: Record<string, unknown>;
  readonly channel_versions: Record<string, number | string>;
  readonly versions_seen: Record<string, Record<string, number | string>>;
}

export type LibraryWrite = [channel: string, value: unknown];

export interface DecodedCheckpoint {
  readonly checkpoint: LibraryCheckpoint;
  readonly metadata: unknown;
  /** Where each value is kept: a checkpoint id, or `#<hash>`. */
  readonly from: Readonly<Record<string, string>>;
}

/** Version of the library's checkpoint format that the rows follow. */
const LIBRARY_FORMAT = 4;

export function decodeCheckpoint(stored: StoredCheckpoint, codec: Codec): DecodedCheckpoint {
  const { checkpoint, values } = stored;
  const body = JSON.parse(checkpoint.body) as {
    readonly ts: string;
    readonly versions: Record<string, number | string>;
    readonly seen: Record<string, Record<string, number | string>>;
    readonly from: Readonly<Record<string, string>>;
  };
  const channelValues: Record<string, unknown> = {};
  for (const [channel, value] of values) channelValues[channel] = codec.decode(value);
  return {
    checkpoint: {
      v: LIBRARY_FORMAT,
      id: checkpoint.checkpointId,
      ts: body.ts,
      channel_values: channelValues,
      channel_versions: body.versions,
      versions_seen: body.seen,
    },
    metadata: JSON.parse(checkpoint.metadata),
    from: body.from,
  };
}

/**
 * Writes of all runs for one checkpoint as `[task id, channel, value]`. Where several runs wrote for one task,
 * special writes count from the latest and others from the first, as they would in one row.
 */
export function decodeWrites(stored: StoredCheckpoint, codec: Codec): readonly [string, string, unknown][] {
  const byTask = new Map<string, Map<number, readonly [string, unknown]>>();
  for (const { taskId, entries } of stored.writes) {
    let merged = byTask.get(taskId);
    if (merged === undefined) byTask.set(taskId, (merged = new Map()));
    const { json, tagged } = codec.parse(entries);
    for (const [index, channel, value, reference] of json as readonly [number, string, Json, string?][]) {
      if (index >= 0 && merged.has(index)) continue;
      const kept = reference === undefined ? { json: value, tagged } : stored.blobs.get(reference);
      if (kept === undefined) throw new Error(`a write of checkpoint ${stored.checkpoint.checkpointId} is missing`);
      merged.set(index, [channel, codec.decode(kept)]);
    }
  }
  const list: [string, string, unknown][] = [];
  for (const [taskId, merged] of byTask)
    for (const [channel, value] of merged.values()) list.push([taskId, channel, value]);
  return list;
}
