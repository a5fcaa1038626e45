import type { WriteSet } from "./model.ts";

/** The write set of a step that stores nothing. */
export const NOTHING: WriteSet = { checkpoints: [], writes: [], blobs: [] };
