// Stored values: the state of a stored checkpoint as API JSON, without its graph where the graph is gone.
import type { Fingerprint } from "../../agent/model/model.ts";
import type { StateValues, StoredCheckpoint, Tx } from "../../agent/ports/ports.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import { type StoredState, deltaValues } from "../checkpoints/delta-history.ts";

/** A stored state with the values of its delta channels. */
interface RebuiltState {
  readonly codec: Codec;
  readonly stored: StoredCheckpoint;
  readonly outputs: Fingerprint["outputs"];
  readonly rebuilt: ReadonlyMap<string, unknown>;
}

export async function storedValues(tx: Tx, codec: Codec, values: StoredState): Promise<StateValues> {
  const { stored, fingerprint } = values;
  const rebuilt = await deltaValues(tx, codec, values);
  const state: RebuiltState = { codec, stored, outputs: fingerprint.outputs, rebuilt };
  return { json: () => codec.toWire(outputsOf(state)), text: () => outputsText(state) };
}

function outputsText(state: RebuiltState): string {
  const { outputs } = state;
  if (typeof outputs === "string") return channelText(state, outputs) ?? "null";
  const members: string[] = [];
  for (const channel of outputs) {
    const shown = channelText(state, channel);
    if (shown !== null) members.push(`${JSON.stringify(channel)}:${shown}`);
  }
  return `{${members.join(",")}}`;
}

function channelText(state: RebuiltState, channel: string): string | null {
  const kept = state.stored.values.get(channel);
  if (!state.rebuilt.has(channel) && kept?.text !== undefined && !kept.tagged) return kept.text;
  const value = channelValue(state, channel);
  return value === undefined ? null : state.codec.wireText(value);
}

function outputsOf(state: RebuiltState): unknown {
  const { outputs, rebuilt, stored } = state;
  if (typeof outputs === "string") return channelValue(state, outputs) ?? null;
  const values: Record<string, unknown> = {};
  for (const channel of outputs)
    if (rebuilt.has(channel) || stored.values.has(channel)) values[channel] = channelValue(state, channel);
  return values;
}

function channelValue({ codec, stored, rebuilt }: RebuiltState, channel: string): unknown {
  if (rebuilt.has(channel)) return rebuilt.get(channel);
  const kept = stored.values.get(channel);
  return kept === undefined ? undefined : codec.decode(kept);
}
