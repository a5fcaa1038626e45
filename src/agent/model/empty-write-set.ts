import type { WriteSet } from "./model.ts";

/** The write set of a step that stores nothing. */
export const EMPTY_WRITE_SET: WriteSet = { checkpoints: [], writes: [], blobs: [] };
