// Run checkpointer: LangGraph's checkpointer for one run (or one state operation), over the storage port. It turns
// LangGraph's saves into rows and keeps them until the run's next commit takes them.
// The pieces:
//   saver-state.ts    the rows that no commit has taken yet, and the places of stored values
//   put-checkpoint.ts a checkpoint as a row
//   put-writes.ts     the writes of a task as a row
//   read-saved.ts     rows as the library reads them
//   codec/            values as texts
// Invariants:
//   - put and putWrites never reject: a value that cannot be stored is reported once and ends only this run.
//   - A put encodes its values at once, so later changes by a node are not in the checkpoint. A long value is encoded in
//     slices of the event loop, and LangGraph delays the next superstep until it is done: only a branch that runs in
//     parallel can change it.
//   run-checkpointer.3. Special writes (error, interrupt, resume) replace their kind, others keep their first value, as
//        in LangGraph.
//   run-checkpointer.4. A read sees this run's own writes.
//   - Writes come back in the order in which LangGraph applies them, regardless of the storing run
//     (decode-checkpoint.ts).
//   - A list reads LIST_STEP checkpoints at a time, on demand.
//   - The update and the goto of a command go, and so does what a task wrote or was given before it threw.
//   - Results stay: a sibling that has finished does not run again. If the state refuses them, they go too.
//   - Errors and interrupts stay: they show where the run failed, and what was asked.
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph";
import type { CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import type { WriteSet } from "../../model/model.ts";
import type { LibraryCheckpoint, LibraryWrite } from "./decode-checkpoint.ts";
import type { ChannelHistory } from "./delta-history.ts";
import { NULL_TASK, type PendingTasks } from "./pending-tasks.ts";
import { putCheckpoint } from "./put-checkpoint.ts";
import { SPECIAL_WRITES, putTaskWrites } from "./put-writes.ts";
import { type CheckpointAddress, listTuples, readDeltaHistory, readTuple } from "./read-saved.ts";
import { PLACES } from "../langgraph/question-places.ts";
import { type SaverOptions, type SaverState, newSaverState, takeRows, taskOfKey } from "./saver-state.ts";

export interface RunSaver {
  readonly checkpointer: BaseCheckpointSaver;
  /** Takes the writes since the last call. */
  take(): WriteSet;
  readonly pending: PendingTasks;
  /** Newest checkpoint of the root graph from this run. */
  rootCheckpointId(): string | null;
  /** The checkpoint of the root graph with exactly these values: the same objects, not equal ones. */
  readonly findCheckpoint: (values: unknown) => string | null;
  /** Takes back writes of this run that no checkpoint has taken. */
  readonly drop: (refused: boolean) => void;
  /** The state refuses the results that it keeps for an input. @returns false if it keeps none, or has taken them */
  readonly forgetResults: () => boolean;
}

export function createRunSaver(options: SaverOptions): RunSaver {
  const state = newSaverState(options);
  return {
    checkpointer: checkpointerOver(state),
    pending: state.pending,
    rootCheckpointId: () => state.rootCheckpointId,
    findCheckpoint: state.rootStates.findCheckpoint,
    take: () => takeRows(state),
    drop: (refused) => dropWrites(state, refused),
    forgetResults() {
      if (!state.keptResults || state.forgetsResults || state.rootCheckpointId !== null) return false;
      state.forgetsResults = true;
      return true;
    },
  };
}

/** Ids of interrupts are hashes; those of tasks are UUIDs. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** The class extends the one of the copy of LangGraph that the graphs use. */
function checkpointerOver(state: SaverState): BaseCheckpointSaver {
  const { places } = state.options;
  class Checkpointer extends state.options.library.langgraph.BaseCheckpointSaver {
    readonly [PLACES] = places;

    override getTuple(config: Config): Promise<CheckpointTuple | undefined> {
      return readTuple(state, readAddress(config));
    }

    override list(config: Config, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
      return listTuples(state, readAddress(config).ns, options);
    }

    override put(config: Config, saved: LibraryCheckpoint, metadata: object): Promise<Config> {
      const { ns, checkpointId: parentId } = readAddress(config);
      const stored = guarded(state, () => putCheckpoint(state, { ns, parentId, saved, metadata }));
      const { threadId } = state.options;
      const next = { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: saved.id } };
      return stored === undefined ? Promise.resolve(next) : stored.then(() => next);
    }

    override async putWrites(config: Config, list: LibraryWrite[], taskId: string, taskPath = ""): Promise<void> {
      const { ns, checkpointId } = readAddress(config);
      // LangGraph also files a map of answers under their ids; the run itself stores the answers.
      if (checkpointId === null || INTERRUPT_ID.test(taskId)) return;
      const beside = places?.rowsBeside(taskId, list) ?? [];
      const rows = beside.map((row) => ({ ns, checkpointId, taskId: row.place, taskPath: "", list: row.list }));
      for (const row of rows) await guarded(state, () => putTaskWrites(state, row));
      const all = places?.withAllRaised(taskId, list) ?? list;
      await guarded(state, () => putTaskWrites(state, { ns, checkpointId, taskId, taskPath, list: all }));
    }

    override getDeltaChannelHistory({ config, channels }: DeltaQuery): Promise<Record<string, ChannelHistory>> {
      return readDeltaHistory(state, readAddress(config), channels);
    }

    override async deleteThread(): Promise<void> {
      throw new Error("a graph cannot delete its own thread");
    }
  }
  return new Checkpointer();
}

/** Runs a put, then reports the write; a failure ends the run. */
function guarded(state: SaverState, put: () => void): Promise<void> | undefined {
  if (state.failed) return undefined;
  try {
    put();
    return state.options.onWrite();
  } catch (error) {
    state.options.onFailure(error);
    state.failed = true;
    return undefined;
  }
}

interface DeltaQuery {
  readonly config: Config;
  readonly channels: string[];
}

interface Config {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

function readAddress(config: Config): CheckpointAddress {
  const { checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
  return { ns: typeof ns === "string" ? ns : "", checkpointId: typeof id === "string" && id !== "" ? id : null };
}

// A run that fails takes back the writes that no checkpoint has taken, so that they cannot spoil later reads and runs.
// The row of a task is stored again without them.

const SHOWN: ReadonlySet<number | undefined> = new Set([SPECIAL_WRITES["__error__"], SPECIAL_WRITES["__interrupt__"]]);

/** @param refused the state refuses the results of the newest step */
function dropWrites(state: SaverState, refused: boolean): void {
  const { threadId, runId } = state.options;
  const graphs = state.pending.graphs();
  for (const [key, entries] of state.listEntries) {
    const { ns, checkpointId, taskId } = taskOfKey(key);
    const graph = graphs.get(ns);
    if (graph?.checkpointId !== checkpointId) continue;
    const goes = refused || graph.tasks.get(taskId.split("#")[0] ?? "")?.failed === true; // a row of a place goes with its task
    const kept = taskId === NULL_TASK ? [] : [...entries].filter(([index]) => !goes || SHOWN.has(index));
    if (kept.length === entries.size) continue;
    state.listEntries.set(key, new Map(kept));
    const row = { threadId, ns, checkpointId, taskId, taskPath: state.taskPaths.get(key) ?? "", runId };
    state.writes.set(key, { ...row, entries: `[${kept.map(([, text]) => text).join(",")}]` });
  }
}
