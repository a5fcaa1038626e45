// The write set of a step without effect.
import type { WriteSet } from "./model.ts";

/** Write set of a superstep that stores nothing. */
export const EMPTY_WRITE_SET: WriteSet = { checkpoints: [], writes: [], blobs: [] };
