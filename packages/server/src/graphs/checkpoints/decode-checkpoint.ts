// Decode checkpoint: stored rows → the objects LangGraph reads. The inverse of the run checkpointer's encoding, for
// runs and for state reads.
import type { StoredCheckpoint } from "../../ports/ports.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Codec } from "./codec/value-codec.ts";

/** LangGraph's checkpoint, as far as we store it. */
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
  /** Location of each value: a checkpoint id, or `#<hash>`. */
  readonly from: Readonly<Record<string, string>>;
}

/** Version of LangGraph's checkpoint format in the rows. */
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
 * Writes of all runs for one checkpoint as `[task id, channel, value]`, in LangGraph's order: by task path, task id,
 * and index. A value rebuilt from writes depends on that order.
 * If several runs wrote for one task, special writes come from the latest run and others from the first, as in one row.
 */
export function decodeWrites(stored: StoredCheckpoint, codec: Codec): readonly [string, string, unknown][] {
  const byTask = new Map<string, Map<number, readonly [string, unknown]>>();
  const paths = new Map<string, string>();
  for (const { taskId, taskPath, entries } of stored.writes) {
    let merged = byTask.get(taskId);
    if (merged === undefined) byTask.set(taskId, (merged = new Map()));
    if (taskPath !== "") paths.set(taskId, taskPath); // an older server of this database stores none
    const { json, tagged } = codec.parse(entries);
    for (const [index, channel, value, reference] of json as readonly [number, string, Json, string?][]) {
      if (index >= 0 && merged.has(index)) continue;
      const kept = reference === undefined ? { json: value, tagged } : stored.blobs.get(reference);
      if (kept === undefined) throw new Error(`a write of checkpoint ${stored.checkpoint.checkpointId} is missing`);
      merged.set(index, [channel, codec.decode(kept)]);
    }
  }
  const list: [string, string, unknown][] = [];
  const tasks = [...byTask].toSorted(
    ([a], [b]) => compareCodePoints(paths.get(a) ?? "", paths.get(b) ?? "") || compareCodePoints(a, b),
  );
  for (const [taskId, merged] of tasks)
    for (const [, [channel, value]] of [...merged].toSorted(([a], [b]) => a - b)) list.push([taskId, channel, value]);
  return list;
}

/** LangGraph sorts paths the same way in every language: `<` compares halves of surrogate pairs. */
function compareCodePoints(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let at = 0; at < a.length && at < b.length; at++) {
    const difference = (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
