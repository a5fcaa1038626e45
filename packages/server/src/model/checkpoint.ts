// Checkpoint: the stored state of a thread, with its values, writes and graph fingerprint.
import type { Json } from "@holdpoint/base/json/json.ts";

/** JSON text of a value in the stored encoding (server/graphs/checkpoints/codec/value-codec.ts). Opaque outside the graphs room. */
export type Encoded = string;

/** Member name that tags values without a JSON form in the stored encoding. Untagged stored text is plain JSON. */
export const TAG = "$hp";

/** Begins with a rare character: a search for the quote before it would stop at every member of a long text. */
const TAG_AND_QUOTE = `${TAG}"`;

/** False for a text without tags. */
export function mayHoldTags(text: string): boolean {
  return text.includes(TAG_AND_QUOTE);
}

/** A stored value, and whether it may contain tags. */
export interface Stored {
  /** The stored text, if the value has a row of its own. */
  readonly text?: string;
  readonly json: Json;
  readonly tagged: boolean;
}

/** A stored text as a value, parsed on first use: lists and replies pass the text through. */
export function parseStored(text: string): Stored {
  let parsed: { readonly json: Json } | null = null;
  return {
    text,
    tagged: mayHoldTags(text),
    get json() {
      parsed ??= { json: JSON.parse(text) as Json };
      return parsed.json;
    },
  };
}

/** Encoded values longer than this many UTF-16 units are stored once per content hash. */
export const BIG_VALUE_UNITS = 4096;

/**
 * One saved superstep of one graph. `small` contains the values written in this step. `from` locates every channel
 * value: empty for this row, a checkpoint id for the `small` of that row, or `#<hash>` for a blob of the thread.
 */
export interface Checkpoint {
  readonly threadId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly runId: string;
  /** Hash of the graph fingerprint. */
  readonly fingerprint: string;
  /** JSON text: `{ts, versions, seen, from}`. */
  readonly body: string;
  /** JSON text: `{channel: value}` in the stored encoding. */
  readonly small: string;
  /** JSON text: metadata of the library and of this server. */
  readonly metadata: string;
}

/** Writes of one run for one task of one checkpoint. Text: `[[index, channel, value], …]` in the stored encoding. */
export interface TaskWrites {
  readonly threadId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly taskId: string;
  /**
   * Position of the task in its superstep, as given by the library. Empty for input and for rows older than the column.
   */
  readonly taskPath: string;
  readonly runId: string;
  readonly entries: string;
}

export interface Blob {
  readonly threadId: string;
  readonly hash: string;
  readonly data: string;
}

/** Pending writes of a run in their order of creation. */
export interface WriteSet {
  readonly checkpoints: readonly Checkpoint[];
  readonly writes: readonly TaskWrites[];
  readonly blobs: readonly Blob[];
}

/** Parts of a graph that a paused thread depends on. */
export interface Fingerprint {
  readonly hash: string;
  readonly graphId: string;
  /** Node names by namespace path: `""` for the root, `"child"`, `"child|grandchild"`. */
  readonly nodes: Readonly<Record<string, readonly string[]>>;
  /** Channel classes of the root graph and of its known subgraphs, by the same paths. */
  readonly channels: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Channels that form the state: a list, or a single channel that is the state itself. */
  readonly outputs: string | readonly string[];
}
