// Delta history: the writes and the snapshot that the library rebuilds a DeltaChannel from. Such a channel has a value in
// few checkpoints only; between them its value is the nearest snapshot above, with all writes since.
// Invariants:
//   delta-history.1. Reading the history changes nothing that a run knows of its own checkpoints.
//   delta-history.2. A value is read up to its snapshot and no further, and a line that leads back to itself ends.
import type { Fingerprint } from "../../agent/model/model.ts";
import type { StoredCheckpoint, Tx } from "../../agent/ports/ports.ts";
import type { Codec } from "./value-codec.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";
import { decodeWrites } from "./decode-checkpoint.ts";

export interface ChannelHistory {
  /** Oldest first. */
  readonly writes: [taskId: string, channel: string, value: unknown][];
  /** Value of the checkpoint where the walk ended, before its own writes; absent when the line has none. */
  readonly seed?: unknown;
}

export type ReadLine = (checkpointId: string, limit: number) => Promise<readonly StoredCheckpoint[]>;

const PAGE = 32;

/** @param checkpointId the parent of the checkpoint whose channels are rebuilt. */
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
      if (open.size === 0 || seen.has(stored.checkpoint.checkpointId)) return Object.fromEntries(ordered(histories)); // delta-history.2
      seen.add(stored.checkpoint.checkpointId);
      for (const write of decodeWrites(stored, codec).toReversed())
        if (open.has(write[1])) found.get(write[1])?.writes.push([...write]);
      for (const channel of open) {
        const value = stored.values.get(channel);
        if (value === undefined) continue;
        histories.set(channel, { writes: found.get(channel)?.writes ?? [], seed: codec.decode(value) });
        open.delete(channel); // delta-history.2
      }
    }
  }
  return Object.fromEntries(ordered(histories));
}

function ordered(histories: ReadonlyMap<string, ChannelHistory>): readonly (readonly [string, ChannelHistory])[] {
  return [...histories].map(([channel, history]) => [channel, { ...history, writes: history.writes.toReversed() }]);
}

/** A channel of the library, as far as it is rebuilt here. */
interface DeltaChannel {
  fromCheckpoint(seed: unknown): DeltaChannel;
  replayWrites(writes: ChannelHistory["writes"]): void;
  isAvailable(): boolean;
  get(): unknown;
}

/** Values of the DeltaChannels in a state, by channel. Empty where the graph that knows how to add them up has gone. */
export async function deltaValues(
  tx: Tx,
  codec: Codec,
  graph: CompiledGraph | undefined,
  { checkpoint, values }: StoredCheckpoint,
  { channels, outputs }: Fingerprint,
): Promise<ReadonlyMap<string, unknown>> {
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
