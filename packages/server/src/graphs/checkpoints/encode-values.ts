// Encode values: live values → the texts that are stored, with the hash of those that become blobs. They are encoded
// before the call returns: later changes by a node are not in the text. A process with a memory limit refuses a value
// that would take all of it on the way to the database and to the readers: the run fails, and not the process.
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

export class StateTooLargeError extends Error {
  constructor(channel: string, units: number, unitsMax: number) {
    const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
    super(
      `the value of "${channel}" has ${megabytes(units)}, and the memory of this server takes ${megabytes(unitsMax)}: give it more memory, or keep the value elsewhere and its address in the state`,
    );
    this.name = "state_too_large";
  }
}

/** What a server takes before it executes a run. */
const IDLE_BYTES = 110 * 1024 * 1024;
/** What a character of a value takes at the most, from the graph to the reply: docs/reference/sizing.md. */
const BYTES_PER_UNIT = 12;
/** Taken with any limit: the process may hold more than it did when it was measured. */
const SMALL_UNITS = 100_000;

/** @param memoryBytes limit of the process; 0 for none */
export function readUnitsMax(memoryBytes: number): number {
  return memoryBytes === 0 ? Infinity : Math.max(SMALL_UNITS, (memoryBytes - IDLE_BYTES) / BYTES_PER_UNIT);
}

const UNITS_MAX = readUnitsMax(process.constrainedMemory());

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
