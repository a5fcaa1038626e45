// Stored values: the state of a stored checkpoint as API JSON, without its graph where the graph is gone.
import type { Fingerprint } from "../../agent/model/model.ts";
import type { StateValues, StoredCheckpoint, Tx } from "../../agent/ports/ports.ts";
import { isLong } from "../../base/stringify-in-slices.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import { type LongValues, decodeLongValues } from "../checkpoints/decode-checkpoint.ts";
import { type StoredState, deltaValues } from "../checkpoints/delta-history.ts";
import { clientJsonInSlices } from "../checkpoints/long-values.ts";

/** A stored state with the values of its delta channels. */
interface RebuiltState {
  readonly codec: Codec;
  readonly stored: StoredCheckpoint;
  readonly outputs: Fingerprint["outputs"];
  readonly rebuilt: ReadonlyMap<string, unknown>;
  long: LongValues;
}

export async function storedValues(tx: Tx, codec: Codec, values: StoredState): Promise<StateValues> {
  const { stored, fingerprint } = values;
  const rebuilt = await deltaValues(tx, codec, values);
  const state: RebuiltState = { codec, stored, outputs: fingerprint.outputs, rebuilt, long: new Map() };
  return {
    json: () => codec.toClientJson(outputsOf(state)),
    async jsonInSlices() {
      await decodeLong(state);
      return clientJsonInSlices(codec, outputsOf(state));
    },
    text: () => outputsText(state),
    textInSlices: () => outputsTextInSlices(state),
  };
}

async function decodeLong(state: RebuiltState): Promise<void> {
  state.long = (await decodeLongValues(state.stored, state.codec)) ?? state.long;
}

function outputsText(state: RebuiltState): string {
  const { outputs } = state;
  if (typeof outputs === "string") return channelText(state, outputs) ?? "null";
  return objectText(outputs.map((channel) => [channel, channelText(state, channel)]));
}

async function outputsTextInSlices(state: RebuiltState): Promise<string> {
  const { outputs } = state;
  const channels = typeof outputs === "string" ? [outputs] : outputs;
  if (channels.some((channel) => plainText(state, channel) === null)) await decodeLong(state);
  if (typeof outputs === "string") return (await channelTextInSlices(state, outputs)) ?? "null";
  const texts: (readonly [string, string | null])[] = [];
  for (const channel of outputs) texts.push([channel, await channelTextInSlices(state, channel)]);
  return objectText(texts);
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

async function channelTextInSlices(state: RebuiltState, channel: string): Promise<string | null> {
  const plain = plainText(state, channel);
  if (plain !== null) return plain;
  const value = channelValue(state, channel);
  if (value === undefined) return null;
  return isLong(value) ? state.codec.clientTextInSlices(value) : state.codec.clientText(value);
}

function outputsOf(state: RebuiltState): unknown {
  const { outputs, rebuilt, stored } = state;
  if (typeof outputs === "string") return channelValue(state, outputs) ?? null;
  const values: Record<string, unknown> = {};
  for (const channel of outputs)
    if (rebuilt.has(channel) || stored.values.has(channel)) values[channel] = channelValue(state, channel);
  return values;
}

function channelValue({ codec, stored, rebuilt, long }: RebuiltState, channel: string): unknown {
  if (rebuilt.has(channel)) return rebuilt.get(channel);
  const kept = stored.values.get(channel);
  if (kept === undefined) return undefined;
  return long.has(kept) ? long.get(kept) : codec.decode(kept);
}
