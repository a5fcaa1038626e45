// Put checkpoint: a checkpoint of LangGraph → its row. The row has the changed values only, and for each other channel
// the place of its value.
import type { Encoded } from "../../model/model.ts";
import type { LibraryCheckpoint } from "./decode-checkpoint.ts";
import { type EncodedValue, type ValueToEncode, encodeValues } from "./encode-values.ts";
import {
  type KnownCheckpoint,
  type Origin,
  type Origins,
  type SaverState,
  blobReference,
  noteSizes,
} from "./saver-state.ts";

/** One call of the library's `put`. */
export interface CheckpointPut {
  readonly ns: string;
  readonly parentId: string | null;
  readonly saved: LibraryCheckpoint;
  readonly metadata: { readonly step?: number; readonly source?: string };
}

/** The channels of one checkpoint: the values to encode, and the place of every value. */
interface Channels {
  readonly changed: readonly ValueToEncode[];
  readonly origins: Map<string, Origin>;
}

export function putCheckpoint(state: SaverState, given: CheckpointPut): void {
  const { ns, saved, metadata } = given;
  const newest = state.originsByNamespace.get(ns);
  const again = given.parentId === saved.id;
  if (again && newest !== undefined && isUnchanged(newest, saved)) return; // put again at exit
  const put: CheckpointPut = again ? { ...given, parentId: newest?.parentId ?? null } : given;
  const channels = encodeChannels(state, given, newest?.checkpointId === given.parentId ? newest.origins : new Map());
  const libraryMetadata = JSON.stringify(metadata);
  const texts = encodeValues(state.options.codec, channels.changed);
  noteSizes(
    state,
    ns,
    texts.map(({ encoded }, at) => [channels.changed[at]?.channel ?? "", encoded.length]),
  );
  const small = smallValues(state, saved, channels, texts);
  addRow(state, put, libraryMetadata, { small, origins: channels.origins });
  noteCheckpoint(state, put, channels.origins);
}

function isUnchanged(known: KnownCheckpoint, saved: LibraryCheckpoint): boolean {
  return (
    known.checkpointId === saved.id &&
    Object.keys(saved.channel_values).every(
      (channel) => known.origins.get(channel)?.version === saved.channel_versions[channel],
    )
  );
}

/** @param known the places of the parent's values */
function encodeChannels(state: SaverState, { saved, metadata }: CheckpointPut, known: Origins): Channels {
  const origins = new Map<string, Origin>();
  const changed: ValueToEncode[] = [];
  for (const [channel, value] of Object.entries(saved.channel_values)) {
    if (value === undefined) continue;
    const version = saved.channel_versions[channel];
    const origin = known.get(channel);
    if (origin === undefined || origin.version !== version || origin.from === saved.id) {
      changed.push({ channel, value, text: findStoredText(state, value, metadata.source) });
      origins.set(channel, { version, from: saved.id });
    } else origins.set(channel, origin);
  }
  return { changed, origins };
}

/** Before any node has run, the input is still the one stored at acceptance. */
function findStoredText({ options: { storedInput } }: SaverState, value: unknown, source?: string): Encoded | null {
  return storedInput !== null && source === "input" && value === storedInput.value ? storedInput.text : null;
}

/** Members of the row's own values; a large value becomes a blob, and its place the blob's. */
function smallValues(
  state: SaverState,
  saved: LibraryCheckpoint,
  { changed, origins }: Channels,
  texts: readonly EncodedValue[],
): string {
  let small = "";
  for (const [at, text] of texts.entries()) {
    const { channel } = changed[at] as ValueToEncode;
    const reference = blobReference(state, text);
    if (reference === null) small += `${small === "" ? "" : ","}${JSON.stringify(channel)}:${text.encoded}`;
    else origins.set(channel, { version: saved.channel_versions[channel], from: reference });
  }
  return small;
}

function addRow(
  { options, metadataStart, checkpoints }: SaverState,
  { ns, parentId, saved }: CheckpointPut,
  libraryMetadata: string,
  { small, origins }: { readonly small: string; readonly origins: Origins },
): void {
  const from: Record<string, string> = {};
  for (const [channel, origin] of origins) from[channel] = origin.from === saved.id ? "" : origin.from;
  checkpoints.push({
    threadId: options.threadId,
    ns,
    checkpointId: saved.id,
    parentId,
    runId: options.runId,
    fingerprint: options.fingerprint,
    body: JSON.stringify({ ts: saved.ts, versions: saved.channel_versions, seen: saved.versions_seen, from }),
    small: `{${small}}`,
    metadata: `${metadataStart}${metadataStart === "{" ? "" : ","}${libraryMetadata.slice(1)}`,
  });
}

/** The checkpoint becomes the newest of its namespace: the next one builds on it. */
function noteCheckpoint(state: SaverState, { ns, parentId, saved, metadata }: CheckpointPut, origins: Origins): void {
  state.originsByNamespace.set(ns, { checkpointId: saved.id, parentId, origins });
  for (const key of state.listEntries.keys()) {
    if (key.startsWith(`${ns}\n`) && !key.startsWith(`${ns}\n${saved.id}\n`)) {
      state.listEntries.delete(key);
      state.taskPaths.delete(key);
    }
  }
  state.pending.checkpointPut(ns, saved, metadata);
  if (ns !== "") return;
  state.rootCheckpointId = saved.id;
  state.rootStates.note(saved.id, saved.channel_values);
}
