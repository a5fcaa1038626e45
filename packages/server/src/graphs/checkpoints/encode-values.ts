// Encode values: live values → the texts that are stored, with the hash of those that become blobs. They are encoded
// before the call returns: later changes by a node are not in the text.
import { BIG_VALUE_UNITS, type Encoded } from "../../model/model.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
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

/** @returns the encodings in the order of the values @throws {NotSerialisableError} */
export function encodeValues(codec: Codec, values: readonly ValueToEncode[]): readonly EncodedValue[] {
  return values.map(({ channel, value, text }) => {
    const encoded = text ?? codec.encode(value, [channel]);
    return { encoded, hash: encoded.length <= BIG_VALUE_UNITS ? null : contentHash(encoded) };
  });
}
