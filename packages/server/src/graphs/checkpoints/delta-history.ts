// Delta history: the writes and the snapshot from which LangGraph rebuilds a DeltaChannel. Few checkpoints have a value
// for such a channel; elsewhere its value is the nearest earlier snapshot plus all writes since.
// Invariants:
//   - Reading the history changes no state of the run's own checkpoints.
//   - A read goes back to the snapshot and no further, and a cycle of ancestors ends it.
import type { Fingerprint } from "../../model/model.ts";
import type { CheckpointTx, StoredCheckpoint } from "../../ports/ports.ts";
import type { Codec } from "./codec/value-codec.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";
import { decodeWrites } from "./decode-checkpoint.ts";

export interface ChannelHistory {
  /** Oldest first. */
  readonly writes: [taskId: string, channel: string, value: unknown][];
  /** Value at the checkpoint where the walk ended, before its own writes; absent if no ancestor has one. */
  readonly seed?: unknown;
}

export type ReadLine = (checkpointId: string, limit: number) => Promise<readonly StoredCheckpoint[]>;

const PAGE = 32;

/** @param checkpointId the parent of the checkpoint whose channels to rebuild */
export async function deltaHistory(
  codec: Codec,
  read: ReadLine,
  checkpointId: string | null,
  channels: readonly string[],
): Promise<Record<string, ChannelHistory>> {
  const found = new Map(channels.map((channel) => [channel, { writes: [] as ChannelHistory["writes"] }]));
  const histories = new Map<string, ChannelHistory>(found);
  const open = new Set(channels);
  const seen = new Set<string>();
  for (let next = checkpointId; next !== null && open.size > 0;) {
    const line = await read(next, PAGE);
    next = line.length < PAGE ? null : (line.at(-1)?.checkpoint.parentId ?? null);
    for (const stored of line) {
      if (open.size === 0 || seen.has(stored.checkpoint.checkpointId)) return Object.fromEntries(ordered(histories));
      seen.add(stored.checkpoint.checkpointId);
      for (const write of decodeWrites(stored, codec).toReversed())
        if (open.has(write[1])) found.get(write[1])?.writes.push([...write]);
      for (const channel of open) {
        const value = stored.values.get(channel);
        if (value === undefined) continue;
        histories.set(channel, { writes: found.get(channel)?.writes ?? [], seed: codec.decode(value) });
        open.delete(channel);
      }
    }
  }
  return Object.fromEntries(ordered(histories));
}

function ordered(histories: ReadonlyMap<string, ChannelHistory>): readonly (readonly [string, ChannelHistory])[] {
  return [...histories].map(([channel, history]) => [channel, { ...history, writes: history.writes.toReversed() }]);
}

/** A channel of LangGraph, as far as this file rebuilds it. */
interface DeltaChannel {
  fromCheckpoint(seed: unknown): DeltaChannel;
  replayWrites(writes: ChannelHistory["writes"]): void;
  isAvailable(): boolean;
  get(): unknown;
}

export interface StoredState {
  readonly stored: StoredCheckpoint;
  readonly fingerprint: Fingerprint;
  /** Absent for a graph that is not deployed any more. */
  readonly graph: CompiledGraph | undefined;
}

/** Values of the DeltaChannels in a state, by channel. Empty if the graph with their reducers no longer exists. */
export async function deltaValues(
  tx: CheckpointTx,
  codec: Codec,
  { stored, fingerprint, graph }: StoredState,
): Promise<ReadonlyMap<string, unknown>> {
  const { checkpoint, values } = stored;
  const { channels, outputs } = fingerprint;
  const rebuilt = new Map<string, unknown>();
  const kinds = channels[""] ?? {};
  const names = (typeof outputs === "string" ? [outputs] : outputs).filter((name) => kinds[name] === "DeltaChannel");
  if (names.length === 0) return rebuilt;
  const missing = names.filter((name) => !values.has(name));
  const read: ReadLine = async (id, limit) =>
    tx.checkpointLine(checkpoint.threadId, checkpoint.ns, id, { limit, channels: missing });
  const histories = await deltaHistory(codec, read, checkpoint.parentId, missing);
  for (const name of names) {
    const channel = graph?.channels[name];
    const kept = values.get(name);
    const seed = kept === undefined ? histories[name]?.seed : codec.decode(kept);
    if (!isDeltaChannel(channel)) continue;
    const made = channel.fromCheckpoint(seed);
    made.replayWrites(histories[name]?.writes ?? []);
    if (made.isAvailable()) rebuilt.set(name, made.get());
  }
  return rebuilt;
}

function isDeltaChannel(channel: unknown): channel is DeltaChannel {
  return (channel as { readonly lc_graph_name?: unknown } | undefined)?.lc_graph_name === "DeltaChannel";
}
