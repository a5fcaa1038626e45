// Encode values: live values → the texts that are stored, with the hash of those that become blobs.
// Invariants:
//   encode-values.1. Short values are encoded before the call returns: later changes are not in the text.
//   encode-values.2. Long values are encoded in slices of the event loop (base/stringify-in-slices.ts).
import { BIG_VALUE_UNITS, type Encoded } from "../../agent/model/model.ts";
import { contentHash, contentHashInSlices } from "../../base/ids.ts";
import { LONG_UNITS, isLong } from "../../base/stringify-in-slices.ts";
import type { Codec } from "./codec/value-codec.ts";

export interface ValueToEncode {
  readonly channel: string;
  readonly value: unknown;
  /** Its encoding, where it is known. */
  readonly text: Encoded | null;
}

export interface EncodedValue {
  readonly encoded: Encoded;
  /** Null for a value that is too short for a blob. */
  readonly hash: string | null;
}

/**
 * @param use gets the encodings in the order of the values
 * @returns undefined when `use` was called already
 * @throws {NotSerialisableError}
 */
export function encodeValues(
  codec: Codec,
  values: readonly ValueToEncode[],
  use: (encoded: readonly EncodedValue[]) => void,
): Promise<void> | undefined {
  if (values.some(({ value, text }) => text === null && isLong(value))) return encodeInSlices(codec, values).then(use); // encode-values.2
  use(values.map(({ channel, value, text }) => hashed(text ?? codec.encode(value, [channel])))); // encode-values.1
  return undefined;
}

async function encodeInSlices(codec: Codec, values: readonly ValueToEncode[]): Promise<readonly EncodedValue[]> {
  const encodings: EncodedValue[] = [];
  for (const { channel, value, text } of values) {
    const encoded = text ?? (await codec.encodeInSlices(value, [channel]));
    encodings.push(encoded.length <= LONG_UNITS ? hashed(encoded) : await hashedInSlices(encoded));
  }
  return encodings;
}

async function hashedInSlices(encoded: Encoded): Promise<EncodedValue> {
  return { encoded, hash: await contentHashInSlices(encoded) };
}

function hashed(encoded: Encoded): EncodedValue {
  return { encoded, hash: encoded.length <= BIG_VALUE_UNITS ? null : contentHash(encoded) };
}
