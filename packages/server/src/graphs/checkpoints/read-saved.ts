// Read saved: stored checkpoints as LangGraph reads them in a run. A read also teaches the saver where the values are,
// so that the run's next checkpoint need not write them again.
import type { CheckpointTuple } from "@langchain/langgraph";
import type { CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import type { Checkpoint } from "../../model/model.ts";
import type { StoredCheckpoint } from "../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { isPlaceRow } from "./answer-places.ts";
import { decodeCheckpoint, decodeWrites } from "./decode-checkpoint.ts";
import { type ChannelHistory, type ReadLine, deltaHistory } from "./delta-history.ts";
import { type CheckpointKind, NULL_TASK } from "./pending-tasks.ts";
import { noteSizes, type Origin, type SaverState } from "./saver-state.ts";
import { isOwnChannel } from "../langgraph/control-values.ts";

/** Namespace and id of a checkpoint; null for the newest one. */
export interface CheckpointAddress {
  readonly ns: string;
  readonly checkpointId: string | null;
}

const LIST_STEP = 4;

export async function readTuple(state: SaverState, address: CheckpointAddress): Promise<CheckpointTuple | undefined> {
  const { ns, checkpointId } = address;
  const { history, read, threadId } = state.options;
  const ownWrites = state.originsByNamespace.has(ns) || state.rootCheckpointId !== null;
  if (!ownWrites && history === "none") return undefined;
  if (!ownWrites && typeof history === "object" && isAt(history.checkpoint, address)) return toTuple(state, history);
  if (state.originsByNamespace.has(ns)) await state.options.settle();
  const stored = await read((tx) => tx.checkpoint(threadId, ns, checkpointId));
  return stored === null ? undefined : toTuple(state, stored);
}

export async function* listTuples(
  state: SaverState,
  ns: string,
  options?: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  await state.options.settle();
  const { read, threadId } = state.options;
  const first: unknown = options?.before?.configurable?.["checkpoint_id"];
  let before = typeof first === "string" ? first : null;
  for (let left = options?.limit ?? Infinity; left > 0;) {
    const limit = Math.min(left, LIST_STEP);
    const metadata = (options?.filter as JsonObject | undefined) ?? null;
    const page = { ns, before, limit, metadata };
    const rows = await read((tx) => tx.checkpoints(threadId, page));
    for (const row of rows) yield toTuple(state, row);
    before = rows.at(-1)?.checkpoint.checkpointId ?? null;
    if (rows.length < limit) return;
    left -= rows.length;
  }
}

export async function readDeltaHistory(
  state: SaverState,
  { ns, checkpointId }: CheckpointAddress,
  channels: readonly string[],
): Promise<Record<string, ChannelHistory>> {
  const { codec, threadId } = state.options;
  if (state.originsByNamespace.has(ns)) await state.options.settle();
  return state.options.read(async (tx) => {
    const read: ReadLine = async (id, limit) => tx.checkpointLine(threadId, ns, id, { limit, channels });
    const target = checkpointId ?? state.originsByNamespace.get(ns)?.checkpointId;
    const [newest] = target === undefined ? [await tx.checkpoint(threadId, ns, null)] : await read(target, 1);
    return deltaHistory(codec, read, newest?.checkpoint.parentId ?? null, channels);
  });
}

function isAt(newest: Checkpoint, { ns, checkpointId }: CheckpointAddress): boolean {
  return newest.ns === ns && (checkpointId === null || checkpointId === newest.checkpointId);
}

function toTuple(state: SaverState, stored: StoredCheckpoint): CheckpointTuple {
  const { codec, threadId, answersKept } = state.options;
  const { ns, checkpointId, parentId } = stored.checkpoint;
  noteSizes(
    state,
    ns,
    [...stored.values].map(([channel, { text }]) => [channel, text?.length ?? 0]),
  );
  const { checkpoint, metadata, from } = decodeCheckpoint(stored, codec);
  const origins = new Map<string, Origin>();
  for (const [channel, place] of Object.entries(from)) {
    if (place.startsWith("#")) state.knownBlobs.add(place.slice(1));
    origins.set(channel, { version: checkpoint.channel_versions[channel], from: place === "" ? checkpointId : place });
  }
  state.originsByNamespace.set(ns, { checkpointId, parentId, origins });
  if (ns === "") state.rootStates.note(checkpointId, checkpoint.channel_values);
  const saved = dropAnswers(decodeWrites(stored, codec), answersKept);
  state.pending.checkpointRead(ns, checkpoint, metadata as CheckpointKind, saved);
  state.options.places?.read(saved);
  const own = saved.filter(([taskId]) => !isPlaceRow(taskId));
  const keeps = state.options.keepsResults && !state.forgetsResults && ns === "" && isBeforeInput(state);
  const tasks = new Set(stored.writes.flatMap(({ taskId, taskPath }) => (taskPath === "" ? [] : taskId)));
  const pendingWrites = keeps ? keepResults(own, tasks) : own;
  state.keptResults ||= keeps && pendingWrites.length > 0;
  const buildConfig = (id: string): CheckpointTuple["config"] => ({
    configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id },
  });
  return {
    config: buildConfig(checkpointId),
    checkpoint,
    metadata: metadata as NonNullable<CheckpointTuple["metadata"]>,
    pendingWrites,
    ...(parentId === null ? {} : { parentConfig: buildConfig(parentId) }),
  };
}

/** The run has put no checkpoint yet. */
function isBeforeInput({ rootCheckpointId }: SaverState): boolean {
  return rootCheckpointId === null;
}

/** A run that answers an interrupt again must not see the earlier answers. */
function dropAnswers(
  writes: readonly (readonly [string, string, unknown])[],
  kept: ReadonlyMap<string, number>,
): [string, string, unknown][] {
  const result: [string, string, unknown][] = [];
  for (const [taskId, channel, value] of writes) {
    const count = channel === "__resume__" ? kept.get(taskId) : undefined;
    if (count === undefined) result.push([taskId, channel, value]);
    else if (count > 0 && Array.isArray(value)) result.push([taskId, channel, value.slice(0, count)]);
  }
  return result;
}

type Write = [taskId: string, channel: string, value: unknown];

/**
 * Writes of a checkpoint as an input meets them. New input on a paused thread ends the pending step, and the library
 * forgets what its finished branches have written. The state has shown it, and they do not run again: so it counts as
 * written before the input. Successors, sends and joins of the step are given up; branches that wait or have failed leave
 * nothing.
 * @param tasks those of the pending step
 */
function keepResults(writes: readonly Readonly<Write>[], tasks: ReadonlySet<string>): Write[] {
  const failed = new Set(writes.filter(([, channel]) => channel === "__error__").map(([taskId]) => taskId));
  return writes.flatMap(([taskId, channel, value]): Write[] =>
    isOwnChannel(channel) || failed.has(taskId) || (taskId !== NULL_TASK && !tasks.has(taskId))
      ? []
      : [[NULL_TASK, channel, value]],
  );
}
