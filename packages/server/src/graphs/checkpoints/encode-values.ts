// Encode values: live values → the texts that are stored, with the hash of those that become blobs. They are encoded
// before the call returns: later changes by a node are not in the text. A process with a memory limit refuses a value
// that would take all of it on the way to the database and to the readers: the run fails, and not the process.
import { BIG_VALUE_UNITS, type Encoded } from "../../model/model.ts";
import { readUnitsMax, STATE_BUDGET_BYTES } from "../../model/state-memory.ts";
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

export class StateTooLargeError extends Error {
  constructor(channel: string, units: number, unitsMax: number) {
    const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
    super(
      `the value of "${channel}" has ${megabytes(units)}, and the memory of this server takes ${megabytes(unitsMax)}: give it more memory, or keep the value elsewhere and its address in the state`,
    );
    this.name = "state_too_large";
  }
}

const UNITS_MAX = readUnitsMax(STATE_BUDGET_BYTES);

/** @returns the encodings in the order of the values @throws {NotSerialisableError} @throws {StateTooLargeError} */
export function encodeValues(
  codec: Codec,
  values: readonly ValueToEncode[],
  unitsMax = UNITS_MAX,
): readonly EncodedValue[] {
  return values.map(({ channel, value, text }) => {
    const encoded = text ?? codec.encode(value, [channel]);
    if (encoded.length > unitsMax) throw new StateTooLargeError(channel, encoded.length, unitsMax);
    return { encoded, hash: encoded.length <= BIG_VALUE_UNITS ? null : contentHash(encoded) };
  });
}
