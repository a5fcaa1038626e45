// Run checkpointer: LangGraph's checkpointer for one run (or one state operation), over the storage port. It turns
// LangGraph's saves into rows and keeps them until the run's next commit takes them.
// Invariants:
//   run-checkpointer.1. put and putWrites never reject: a value that cannot be stored is reported once and ends only
//        this run.
//   run-checkpointer.2. A put encodes its values at once, so later changes by a node are not in the checkpoint.
//   run-checkpointer.3. Special writes (error, interrupt, resume) replace their kind, others keep their first value, as
//        in LangGraph.
//   run-checkpointer.4. A read sees this run's own writes.
//   run-checkpointer.5. Writes come back in the order in which LangGraph applies them, regardless of the storing run
//        (decode-checkpoint.ts).
//   run-checkpointer.6. A list reads LIST_STEP checkpoints at a time, on demand.
//   run-checkpointer.7. Exception to run-checkpointer.2: a long value is encoded in slices of the event loop, and
//        LangGraph delays the next superstep until it is done. Only a branch that runs in parallel can change it.
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph";
import type { CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import { type Blob, type Checkpoint, type Encoded, type TaskWrites, type WriteSet } from "../../agent/model/model.ts";
import type { History, StoredCheckpoint, Tx } from "../../agent/ports/ports.ts";
import type { JsonObject } from "../../base/json/json.ts";
import type { Codec } from "./value-codec.ts";
import { type EncodedValue, type ValueToEncode, encodeValues } from "./encode-values.ts";
import { deltaHistory, type ChannelHistory, type ReadLine } from "./delta-history.ts";
import type { Library } from "../langgraph/library.ts";
import { createRecentStates } from "./state-lookup.ts";
import { createPendingTasks, type PendingTasks } from "./pending-tasks.ts";
import {
  decodeCheckpoint,
  decodeWrites,
  loadValues,
  type LibraryCheckpoint,
  type LibraryWrite,
} from "./decode-checkpoint.ts";

export interface SaverOptions {
  readonly library: Library;
  readonly codec: Codec;
  readonly threadId: string;
  readonly runId: string;
  readonly fingerprint: string;
  /** Part of every checkpoint's metadata. */
  readonly metadata: JsonObject;
  /** Input of the run, and its text, which is in the storage already. */
  readonly storedInput: { readonly value: unknown; readonly text: Encoded } | null;
  /** Channels of the state. */
  readonly outputs: string | readonly string[];
  /** Channels that reads may skip. */
  readonly history: History;
  readonly read: <T>(query: (tx: Tx) => T | Promise<T>) => Promise<T>;
  /** Task id → number of its valid saved answers; reads drop the answers after those. */
  readonly answersKept: ReadonlyMap<string, number>;
  /** Called after a write. With durability `sync` LangGraph awaits the result before the next superstep. */
  readonly onWrite: () => Promise<void> | undefined;
  /** Stores all writes so far, so that reads find them. */
  readonly settle: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

export interface RunSaver {
  readonly checkpointer: BaseCheckpointSaver;
  /** Takes the writes since the last call. */
  take(): WriteSet;
  readonly pending: PendingTasks;
  /** Newest checkpoint of the root graph from this run. */
  rootCheckpointId(): string | null;
  /** The checkpoint of the root graph with exactly these values: the same objects, not equal ones. */
  readonly checkpointOf: (values: unknown) => string | null;
}

const LIST_STEP = 4;

interface Origin {
  readonly version: unknown;
  readonly from: string;
}
type Origins = ReadonlyMap<string, Origin>;

interface KnownCheckpoint {
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly origins: Origins;
}

function isUnchanged(known: KnownCheckpoint, saved: LibraryCheckpoint): boolean {
  return (
    known.checkpointId === saved.id &&
    Object.keys(saved.channel_values).every(
      (channel) => known.origins.get(channel)?.version === saved.channel_versions[channel],
    )
  );
}

/** Ids of interrupts are hashes; those of tasks are UUIDs. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

const SPECIAL_WRITES: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

export function createRunSaver(options: SaverOptions): RunSaver {
  const { codec, threadId, runId } = options;
  const metadataStart = JSON.stringify(callersMetadata(options.metadata)).slice(0, -1);
  const pending = createPendingTasks();
  const knownBlobs = new Set<string>();
  const originsOf = new Map<string, KnownCheckpoint>(); // newest per ns
  const entriesOf = new Map<string, Map<number, string>>();
  let checkpoints: Checkpoint[] = [];
  let writes = new Map<string, TaskWrites>();
  let blobs: Blob[] = [];
  const rootStates = createRecentStates(options.outputs);
  let rootCheckpointId: string | null = null;
  let failed = false;
  /** Writes whose values are being encoded; those of one task by its key. */
  const underway = new Set<Promise<void>>();
  const slowWrites = new Map<string, Promise<void>>();

  const failBy = (error: unknown): undefined => {
    if (!failed) options.onFailure(error);
    failed = true; // run-checkpointer.1
    return undefined;
  };

  const guarded = (work: () => Promise<void> | undefined): Promise<void> | undefined => {
    if (failed) return undefined;
    try {
      const slow = work();
      if (slow === undefined) return options.onWrite();
      const written = slow.then(() => (failed ? undefined : options.onWrite())).catch(failBy);
      underway.add(written);
      return written.finally(() => underway.delete(written));
    } catch (error) {
      return failBy(error);
    }
  };

  /** `#hash` of a large value, which is or becomes a blob; null for a small one. */
  const blobReference = ({ encoded, hash }: EncodedValue): string | null => {
    if (hash === null) return null;
    if (!knownBlobs.has(hash)) {
      knownBlobs.add(hash);
      if (encoded !== options.storedInput?.text) blobs.push({ threadId, hash, data: encoded });
    }
    return `#${hash}`;
  };

  /** Before any node has run, the input is still what was stored when it was accepted. */
  const storedTextOf = (value: unknown, { source }: { readonly source?: string }): Encoded | null =>
    options.storedInput !== null && source === "input" && value === options.storedInput.value
      ? options.storedInput.text
      : null;

  const putCheckpoint = (
    ns: string,
    givenParent: string | null,
    saved: LibraryCheckpoint,
    metadata: object,
  ): Promise<void> | undefined => {
    const parent = originsOf.get(ns);
    const parentId = givenParent === saved.id ? (parent?.parentId ?? null) : givenParent;
    if (givenParent === saved.id && parent !== undefined && isUnchanged(parent, saved)) return undefined; // put again at exit
    const known: Origins = parent !== undefined && parent.checkpointId === givenParent ? parent.origins : new Map();
    const origins = new Map<string, Origin>();
    const changed: ValueToEncode[] = [];
    for (const [channel, value] of Object.entries(saved.channel_values)) {
      if (value === undefined) continue;
      const version = saved.channel_versions[channel];
      const origin = known.get(channel);
      if (origin === undefined || origin.version !== version || origin.from === saved.id) {
        changed.push({ channel, value, text: storedTextOf(value, metadata) });
        origins.set(channel, { version, from: saved.id });
      } else origins.set(channel, origin);
    }
    const libraryMetadata = JSON.stringify(metadata);
    return encodeValues(codec, changed, (texts) => {
      let small = "";
      for (const [at, text] of texts.entries()) {
        const { channel } = changed[at] as ValueToEncode;
        const reference = blobReference(text);
        if (reference === null) small += `${small === "" ? "" : ","}${JSON.stringify(channel)}:${text.encoded}`;
        else origins.set(channel, { version: saved.channel_versions[channel], from: reference });
      }
      const from: Record<string, string> = {};
      for (const [channel, origin] of origins) from[channel] = origin.from === saved.id ? "" : origin.from;
      checkpoints.push({
        threadId,
        ns,
        checkpointId: saved.id,
        parentId,
        runId,
        fingerprint: options.fingerprint,
        body: JSON.stringify({ ts: saved.ts, versions: saved.channel_versions, seen: saved.versions_seen, from }),
        small: `{${small}}`,
        metadata: `${metadataStart}${metadataStart === "{" ? "" : ","}${libraryMetadata.slice(1)}`,
      });
      originsOf.set(ns, { checkpointId: saved.id, parentId, origins });
      for (const key of entriesOf.keys()) {
        if (key.startsWith(`${ns}\n`) && !key.startsWith(`${ns}\n${saved.id}\n`)) entriesOf.delete(key);
      }
      pending.checkpointPut(ns, saved, metadata);
      if (ns !== "") return;
      rootCheckpointId = saved.id;
      rootStates.note(saved.id, saved.channel_values);
    });
  };

  const putTaskWrites = (
    ns: string,
    checkpointId: string,
    { taskId, taskPath }: { readonly taskId: string; readonly taskPath: string },
    list: readonly [string, unknown][],
  ): Promise<void> | undefined => {
    const key = `${ns}\n${checkpointId}\n${taskId}`;
    const before = slowWrites.get(key);
    if (before !== undefined) return before.then(() => putTaskWrites(ns, checkpointId, { taskId, taskPath }, list)); // in the order of the calls
    let entries = entriesOf.get(key);
    if (entries === undefined) entriesOf.set(key, (entries = new Map()));
    const fresh: (ValueToEncode & { readonly index: number })[] = [];
    list.forEach(([channel, value], position) => {
      const index = SPECIAL_WRITES[channel] ?? position;
      if (index >= 0 && entries.has(index)) return; // run-checkpointer.3
      fresh.push({ index, channel, value, text: null });
    });
    const written = encodeValues(codec, fresh, (texts) => {
      for (const [at, text] of texts.entries()) {
        const { index, channel } = fresh[at] as (typeof fresh)[number];
        const reference = blobReference(text);
        entries.set(
          index,
          `[${index},${JSON.stringify(channel)},${reference === null ? text.encoded : `null,"${reference}"`}]`,
        );
      }
      const row = { threadId, ns, checkpointId, taskId, taskPath, runId };
      writes.set(key, { ...row, entries: `[${[...entries.values()].join(",")}]` });
      pending.writesPut(ns, checkpointId, taskId, list);
    });
    if (written === undefined) return undefined;
    const done = written.finally(() => slowWrites.delete(key));
    slowWrites.set(
      key,
      done.catch(() => undefined),
    );
    return done;
  };

  const tupleOf = (stored: StoredCheckpoint): CheckpointTuple => {
    const { checkpoint } = stored;
    const decoded = decodeCheckpoint(stored, codec);
    const origins = new Map<string, Origin>();
    for (const [channel, from] of Object.entries(decoded.from)) {
      if (from.startsWith("#")) knownBlobs.add(from.slice(1));
      const origin = from === "" ? checkpoint.checkpointId : from;
      origins.set(channel, { version: decoded.checkpoint.channel_versions[channel], from: origin });
    }
    originsOf.set(checkpoint.ns, { checkpointId: checkpoint.checkpointId, parentId: checkpoint.parentId, origins });
    if (checkpoint.ns === "") rootStates.note(checkpoint.checkpointId, decoded.checkpoint.channel_values);
    const pendingWrites = dropAnswers(decodeWrites(stored, codec), options.answersKept);
    pending.checkpointRead(
      checkpoint.ns,
      decoded.checkpoint,
      decoded.metadata as { readonly step?: number },
      pendingWrites,
    );
    const configurable = { thread_id: threadId, checkpoint_ns: checkpoint.ns };
    return {
      config: { configurable: { ...configurable, checkpoint_id: checkpoint.checkpointId } },
      checkpoint: decoded.checkpoint,
      metadata: decoded.metadata as NonNullable<CheckpointTuple["metadata"]>,
      pendingWrites,
      ...(checkpoint.parentId === null
        ? {}
        : { parentConfig: { configurable: { ...configurable, checkpoint_id: checkpoint.parentId } } }),
    };
  };

  /** run-checkpointer.4. */
  const settled = async (): Promise<void> => {
    await Promise.all(underway);
    await options.settle();
  };
  const read = async (stored: StoredCheckpoint): Promise<CheckpointTuple> => {
    const loading = loadValues(stored);
    if (loading !== undefined) await loading;
    return tupleOf(stored);
  };

  class Checkpointer extends options.library.langgraph.BaseCheckpointSaver {
    override async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
      const { ns, checkpointId } = addressOf(config);
      const { history } = options;
      const ownWrites = originsOf.has(ns) || rootCheckpointId !== null;
      if (!ownWrites && history === "none") return undefined;
      if (!ownWrites && typeof history === "object" && isAt(history.checkpoint, ns, checkpointId)) return read(history);
      if (originsOf.has(ns)) await settled();
      const stored = await options.read((tx) => tx.checkpoint(threadId, ns, checkpointId));
      return stored === null ? undefined : read(stored);
    }

    override async *list(config: Config, listOptions?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
      await settled();
      const first: unknown = listOptions?.before?.configurable?.["checkpoint_id"];
      let before = typeof first === "string" ? first : null;
      for (let left = listOptions?.limit ?? Infinity; left > 0;) {
        const limit = Math.min(left, LIST_STEP); // run-checkpointer.6
        const [ns, after] = [addressOf(config).ns, before];
        const metadata = (listOptions?.filter as JsonObject | undefined) ?? null;
        const rows = await options.read((tx) => tx.checkpoints(threadId, { ns, before: after, limit, metadata }));
        for (const row of rows) yield read(row);
        before = rows.at(-1)?.checkpoint.checkpointId ?? null;
        if (rows.length < limit) return;
        left -= rows.length;
      }
    }

    override put(config: Config, saved: LibraryCheckpoint, metadata: object): Promise<Config> {
      const { ns, checkpointId } = addressOf(config);
      const stored = guarded(() => putCheckpoint(ns, checkpointId, saved, metadata));
      const next = { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: saved.id } };
      return stored === undefined ? Promise.resolve(next) : stored.then(() => next);
    }

    override async putWrites(config: Config, list: LibraryWrite[], taskId: string, taskPath = ""): Promise<void> {
      const { ns, checkpointId } = addressOf(config);
      // LangGraph also files a map of answers under their ids; the run itself stores the answers.
      if (checkpointId === null || INTERRUPT_ID.test(taskId)) return;
      await guarded(() => putTaskWrites(ns, checkpointId, { taskId, taskPath }, list));
    }

    override async getDeltaChannelHistory({ config, channels }: DeltaQuery): Promise<Record<string, ChannelHistory>> {
      const { ns, checkpointId } = addressOf(config);
      if (originsOf.has(ns)) await settled();
      return options.read(async (tx) => {
        const read: ReadLine = async (id, limit) => tx.checkpointLine(threadId, ns, id, { limit, channels });
        const target = checkpointId ?? originsOf.get(ns)?.checkpointId;
        const [newest] = target === undefined ? [await tx.checkpoint(threadId, ns, null)] : await read(target, 1);
        return deltaHistory(codec, read, newest?.checkpoint.parentId ?? null, channels);
      });
    }

    override async deleteThread(): Promise<void> {
      throw new Error("a graph cannot delete its own thread");
    }
  }

  return {
    checkpointer: new Checkpointer(),
    pending,
    rootCheckpointId: () => rootCheckpointId,
    checkpointOf: rootStates.checkpointOf,
    take() {
      const set: WriteSet = { checkpoints, writes: [...writes.values()], blobs };
      checkpoints = [];
      writes = new Map();
      blobs = [];
      return set;
    },
  };
}

/** LangGraph reads its own keys here, and some checkpoints lack them: a caller must not supply them instead. */
function callersMetadata(metadata: JsonObject): JsonObject {
  const { counters_since_delta_snapshot: _counters, delta_writes_versioned: _versioned, ...rest } = metadata;
  return rest;
}

function isAt(newest: Checkpoint, ns: string, checkpointId: string | null): boolean {
  return newest.ns === ns && (checkpointId === null || checkpointId === newest.checkpointId);
}

interface DeltaQuery {
  readonly config: Config;
  readonly channels: string[];
}

interface Config {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

function addressOf(config: Config): { readonly ns: string; readonly checkpointId: string | null } {
  const { checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
  return { ns: typeof ns === "string" ? ns : "", checkpointId: typeof id === "string" && id !== "" ? id : null };
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
