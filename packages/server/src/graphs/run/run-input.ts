// Run input: the input of an attempt, and the answers of a run that are still unused.
// Invariants:
//   - An attempt passes only answers that no task has used.
//   - After a run's first checkpoint, a later attempt continues from there: input and command count once.
//   - An update or a goto on a paused thread continues the pending step: finished branches do not run again, used
//     answers count, and open interrupts keep their ids.
//   - LangGraph keeps one update for a pending step: a later one contains the earlier ones.
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import type { CarriedAnswer, Encoded, Run } from "../../model/model.ts";
import type { CheckpointTx } from "../../ports/ports.ts";
import { NULL_TASK } from "../checkpoints/pending-tasks.ts";
import { decodeWrites } from "../checkpoints/decode-checkpoint.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import { rejectControlValues } from "../langgraph/control-values.ts";
import { toGoto } from "../langgraph/goto.ts";
import { isThrownPlace } from "../langgraph/question-places.ts";
import type { RunContext } from "./run-context.ts";
import type { Library } from "../langgraph/library.ts";

/** The input as the run was accepted with it. */
export interface StoredInput {
  readonly text: Encoded;
  /** As the graph gets it. */
  value: unknown;
}

export interface Progress {
  /** A checkpoint of this run exists. */
  readonly started: boolean;
  readonly unused: readonly CarriedAnswer[];
}

/** The input left by earlier attempts of this run. */
export async function readProgress(
  tx: CheckpointTx,
  codec: Codec,
  run: Run,
  answers: readonly CarriedAnswer[],
): Promise<Progress> {
  const root = await tx.checkpoint(run.threadId, "", null);
  const unused: CarriedAnswer[] = [];
  for (const answer of answers) {
    const stored = await tx.checkpoint(run.threadId, answer.graphNs, null);
    const movedOn = stored?.checkpoint.runId === run.runId;
    if (movedOn) continue;
    const at = await tx.checkpoint(run.threadId, answer.graphNs, answer.checkpointId);
    if (at === null) continue;
    const own = { ...at, writes: at.writes.filter((row) => row.runId === run.runId) };
    const saved = decodeWrites(own, codec).find(
      ([taskId, channel]) => taskId === answer.taskId && channel === "__resume__",
    );
    const count = saved === undefined ? 0 : Array.isArray(saved[2]) ? saved[2].length : 1;
    if (count <= answer.index) unused.push(answer);
  }
  return { started: root?.checkpoint.runId === run.runId, unused };
}

/** The answers of a run that no attempt has used. Where the state cannot be read, all of them count as unused. */
export async function readUnused(tx: CheckpointTx, codec: Codec, run: Run): Promise<readonly CarriedAnswer[]> {
  const { answers = [] } = run.request.command ?? {};
  try {
    return (await readProgress(tx, codec, run, answers)).unused;
  } catch (error) {
    if (isStorageFailure(error)) throw error;
    return answers;
  }
}

export function unusedAnswers(saver: RunSaver, carried: readonly CarriedAnswer[]): readonly CarriedAnswer[] {
  return carried.filter((answer) => {
    const graph = saver.pending.graphs().get(answer.graphNs);
    if (graph === undefined) return true;
    if (graph.checkpointId !== answer.checkpointId) return false; // the graph is past the interrupt
    const task = graph.tasks.get(answer.taskId);
    return task?.failed === true || (task?.answersSaved ?? 0) <= answer.index;
  });
}

/** @param resume null without an unused answer */
export async function firstInput(
  { library, codec, read }: RunContext,
  run: Run,
  resume: object | null,
  stored: StoredInput | null,
): Promise<unknown> {
  const { command } = run.request;
  if (command === null) {
    if (stored === null) return null;
    const input = codec.decode(codec.parse(stored.text));
    rejectControlValues({ input }); // an earlier version may have accepted it
    stored.value = input;
    return input;
  }
  // LangGraph hands no answer to a node that throws its interrupt, and resumes a subgraph without the update: without
  // the answers, the node runs again on the updated state.
  const areThrown = command.answers?.every(({ taskId }) => isThrownPlace(taskId)) === true;
  const isAnew = areThrown && command.update !== undefined;
  // An earlier attempt used the whole command: LangGraph rejects an empty one.
  if (resume === null && command.update === undefined && command.goto === undefined) return null;
  const { earlier, isPaused } = await readPause({ library, codec, read }, run);
  const continued = isAnew ? null : (resume ?? (isPaused ? NO_ANSWER : null));
  const update = earlier.length === 0 ? command.update : [...earlier, ...listEntries(command.update)];
  return new library.langgraph.Command({
    ...(continued === null ? {} : { resume: continued }),
    ...(update === undefined ? {} : { update: update as Record<string, unknown> }),
    ...(command.goto === undefined ? {} : { goto: toGoto(library, command.goto) }),
  });
}

/** A map of answers that names no interrupt: LangGraph continues the pending step instead of beginning a new one. */
const NO_ANSWER = { "00000000000000000000000000000000": null };

interface Pause {
  /** Writes of earlier updates and gotos that no checkpoint has taken, as `[channel, value]`. */
  readonly earlier: readonly (readonly [string, unknown])[];
  /** A task of the newest step waits for an answer. */
  readonly isPaused: boolean;
}

async function readPause({ codec, read }: Pick<RunContext, "library" | "codec" | "read">, run: Run): Promise<Pause> {
  const { command, checkpointId } = run.request;
  if (checkpointId !== null || (command?.update === undefined && command?.goto === undefined)) return NO_PAUSE;
  const stored = await read((tx) => tx.checkpoint(run.threadId, "", null));
  if (stored === null) return NO_PAUSE;
  const others = { ...stored, writes: stored.writes.filter((row) => row.runId !== run.runId) };
  const byTask = Map.groupBy(decodeWrites(others, codec), ([taskId]) => taskId);
  const listChannels = (writes: readonly (readonly [string, string, unknown])[]) =>
    writes.map(([, channel]) => channel);
  return {
    earlier: (byTask.get(NULL_TASK) ?? []).map(([, channel, value]) => [channel, value] as const),
    isPaused: [...byTask.values()].some((writes) => {
      const channels = listChannels(writes);
      return channels.includes("__interrupt__") && channels.every((channel) => WAITING.has(channel));
    }),
  };
}

const NO_PAUSE: Pause = { earlier: [], isPaused: false };

/** Writes of a task that has not finished. */
const WAITING: ReadonlySet<string> = new Set(["__interrupt__", "__resume__", "__error__"]);

function listEntries(update: unknown): readonly unknown[] {
  return Array.isArray(update) ? update : Object.entries(update ?? {});
}

export function resumeInput(library: Library, resume: object | null): unknown {
  return resume === null ? null : new library.langgraph.Command({ resume });
}
