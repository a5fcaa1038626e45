// Detached state: the saved state of a graph that a node called as a function, such as a subagent in a tool. No
// deployed graph contains it, so its state comes from the stored rows alone.
//   - Values are those of every channel but LangGraph's own.
//   - Next are the nodes with a trigger that they have not seen.
import type { CheckpointQuery, StateAddress, StateSnapshot, StateTask, StoredCheckpoint } from "../../ports/ports.ts";
import { isPlaceRow } from "../checkpoints/answer-places.ts";
import { type LibraryCheckpoint, decodeCheckpoint, decodeWrites } from "../checkpoints/decode-checkpoint.ts";
import type { RunContext } from "../run/run-context.ts";
import { readErrorText } from "./error-text.ts";

const TRIGGER = /^branch:to:(.+)$/;
const JOIN = /^join:(.+):([^:]+)$/;
/** Channels of LangGraph: `__start__`, `__pregel_tasks`, triggers, joins, and the branches of older versions. */
const LIBRARY_CHANNEL = /^(?:__|branch:|join:|start:)/;
const SENDS = "__pregel_tasks";

/** @returns null without such a checkpoint */
export async function readDetached(context: RunContext, address: StateAddress): Promise<StateSnapshot | null> {
  const { threadId, ns, checkpointId } = address;
  const stored = await context.read((tx) => tx.checkpoint(threadId, ns, checkpointId));
  return stored === null ? null : describeState(context, stored);
}

/** Newest first. */
export async function* listDetached(
  context: RunContext,
  { threadId, ns }: StateAddress,
  query: CheckpointQuery,
): AsyncGenerator<StateSnapshot> {
  let { before } = query;
  for (let left = query.limit ?? Infinity; left > 0; left--) {
    const page = { ...query, ns, before, limit: 1 };
    const [stored] = await context.read((tx) => tx.checkpoints(threadId, page));
    if (stored === undefined) return;
    yield describeState(context, stored);
    before = stored.checkpoint.checkpointId;
  }
}

function describeState({ codec }: RunContext, stored: StoredCheckpoint): StateSnapshot {
  const { checkpoint, metadata } = decodeCheckpoint(stored, codec);
  const { threadId, ns, checkpointId, parentId } = stored.checkpoint;
  const own = Object.entries(checkpoint.channel_values).filter(([channel]) => !LIBRARY_CHANNEL.test(channel));
  const next = findNext(checkpoint);
  const place = { thread_id: threadId, checkpoint_ns: ns, checkpoint_map: null };
  return {
    values: codec.toClientJson(Object.fromEntries(own)),
    next,
    tasks: describeTasks({ codec }, stored, next),
    metadata: codec.toClientJson(metadata ?? {}),
    createdAt: checkpoint.ts,
    checkpoint: { ...place, checkpoint_id: checkpointId },
    parentCheckpoint: parentId === null ? null : { ...place, checkpoint_id: parentId },
  };
}

function findNext({ channel_values, channel_versions, versions_seen }: LibraryCheckpoint): readonly string[] {
  const next = new Set<string>();
  for (const [channel, value] of Object.entries(channel_values)) {
    const [, joined, joining] = JOIN.exec(channel) ?? [];
    const node = channel === "__start__" ? channel : (TRIGGER.exec(channel)?.[1] ?? joining);
    if (node === undefined) continue;
    const isJoined =
      joined === undefined || (Array.isArray(value) && joined.split("+").every((one) => value.includes(one)));
    const seen = versions_seen[node]?.[channel];
    const version = channel_versions[channel];
    if (isJoined && version !== undefined && (seen === undefined || version > seen)) next.add(node);
  }
  const sends = channel_values[SENDS];
  for (const send of Array.isArray(sends) ? sends : [])
    if (typeof send?.node === "string") next.add(send.node as string);
  return [...next];
}

/** The tasks that wrote something: their questions, errors and results. */
function describeTasks(
  { codec }: Pick<RunContext, "codec">,
  stored: StoredCheckpoint,
  next: readonly string[],
): readonly StateTask[] {
  const tasks = new Map<string, [channel: string, value: unknown][]>();
  for (const [taskId, channel, value] of decodeWrites(stored, codec)) {
    if (isPlaceRow(taskId)) continue;
    const writes = tasks.get(taskId) ?? [];
    tasks.set(taskId, [...writes, [channel, value]]);
  }
  return [...tasks].map(([id, writes]) => {
    const find = (wanted: string): unknown => writes.find(([channel]) => channel === wanted)?.[1];
    const raised = find("__interrupt__");
    const interrupts = (Array.isArray(raised) ? raised : []) as readonly {
      readonly id?: string;
      readonly value: unknown;
    }[];
    return {
      id,
      name: next.length === 1 ? (next[0] ?? "") : "",
      path: null,
      error: readErrorText(find("__error__")),
      interrupts: interrupts.map((one) => ({ id: one.id ?? null, value: codec.toClientJson(one.value) })),
      checkpoint: null,
      state: null,
      result: null,
    };
  });
}
