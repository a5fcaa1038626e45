// Stored values: the state of a stored checkpoint as API JSON, without its graph where the graph is gone.
import type { Fingerprint } from "../../model/model.ts";
import type { CheckpointTx, StateValues, StoredCheckpoint } from "../../ports/ports.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import { type StoredState, deltaValues } from "../checkpoints/delta-history.ts";

/** A stored state with the values of its delta channels. */
interface RebuiltState {
  readonly codec: Codec;
  readonly stored: StoredCheckpoint;
  readonly outputs: Fingerprint["outputs"];
  readonly rebuilt: ReadonlyMap<string, unknown>;
}

export async function storedValues(tx: CheckpointTx, codec: Codec, values: StoredState): Promise<StateValues> {
  const { stored, fingerprint } = values;
  const rebuilt = await deltaValues(tx, codec, values);
  const state: RebuiltState = { codec, stored, outputs: fingerprint.outputs, rebuilt };
  return {
    json: () => codec.toClientJson(selectOutputs(state)),
    text: () => outputsText(state),
  };
}

function outputsText(state: RebuiltState): string {
  const { outputs } = state;
  if (typeof outputs === "string") return channelText(state, outputs) ?? "null";
  return objectText(outputs.map((channel) => [channel, channelText(state, channel)]));
}

function objectText(texts: readonly (readonly [channel: string, text: string | null])[]): string {
  const members: string[] = [];
  for (const [channel, text] of texts) if (text !== null) members.push(`${JSON.stringify(channel)}:${text}`);
  return `{${members.join(",")}}`;
}

/** Text that needs no translation is passed through without parsing. */
function plainText({ stored, rebuilt }: RebuiltState, channel: string): string | null {
  const kept = stored.values.get(channel);
  return rebuilt.has(channel) || kept?.tagged !== false ? null : (kept.text ?? null);
}

function channelText(state: RebuiltState, channel: string): string | null {
  const plain = plainText(state, channel);
  if (plain !== null) return plain;
  const value = channelValue(state, channel);
  return value === undefined ? null : state.codec.clientText(value);
}

function selectOutputs(state: RebuiltState): unknown {
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
