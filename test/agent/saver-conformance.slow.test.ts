// The library's own conformance suite for checkpointers, run on the saver that graphs get, over both storages. That
// saver belongs to one thread and one run, and never rejects: a wrapper creates a saver for each thread and rejects
// calls without an address, as the suite requires. HOLDPOINT_TEST_LANGGRAPH=oldest: the saver of the oldest library.
import { BaseCheckpointSaver } from "@langchain/langgraph";
import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import { after } from "node:test";
import type { WriteSet } from "@holdpoint/server/model/model.ts";
import type { Storage } from "@holdpoint/server/ports/ports.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createCodec } from "@holdpoint/server/graphs/checkpoints/codec/value-codec.ts";
import { loadLibrary } from "@holdpoint/server/graphs/langgraph/library.ts";
import { createRunSaver, type RunSaver } from "@holdpoint/server/graphs/checkpoints/run-checkpointer.ts";
import { createPostgresStorage } from "@holdpoint/server/storage/postgres/storage.ts";
import { createSqliteStorage } from "@holdpoint/server/storage/sqlite/storage.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { onOldest } from "../harness/langgraph.ts";
import { provideGlobals } from "../harness/vitest-globals.ts";

provideGlobals({
  "should migrate pending sends": "the storage holds no checkpoint of a format before 4",
  "should only store channel_values that have changed (based on newVersions)":
    "versions of the checkpoint itself say what has changed",
});

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const projectOfOldest = async (): Promise<string> => (await import("../outside/oldest-langgraph.ts")).oldestProject();
const library = await loadLibrary(onOldest ? await projectOfOldest() : import.meta.dirname);
const VERSIONS = { holdpoint: "1.2.3", library: library.version };

type Saver = BaseCheckpointSaver;
type Config = Parameters<Saver["getTuple"]>[0];

class ThreadSavers extends BaseCheckpointSaver {
  readonly #storage: Storage;
  readonly #savers = new Map<string, RunSaver>();
  readonly #namespaces = new Set<string>();

  constructor(storage: Storage) {
    super();
    this.#storage = storage;
  }

  #of(config: Config, needsCheckpoint = false): Saver {
    const { thread_id: threadId, checkpoint_ns: ns = "", checkpoint_id: id } = config.configurable ?? {};
    if (typeof threadId !== "string" || (needsCheckpoint && typeof id !== "string")) throw new Error("no address");
    this.#namespaces.add(String(ns));
    let saver = this.#savers.get(threadId);
    if (saver === undefined) this.#savers.set(threadId, (saver = this.#make(threadId)));
    return saver.checkpointer;
  }

  #make(threadId: string): RunSaver {
    const store = async (set: WriteSet): Promise<void> => this.#storage.transaction((tx) => tx.putWriteSet(set));
    const saver: RunSaver = createRunSaver({
      library,
      codec: createCodec(library),
      threadId,
      runId: "run",
      fingerprint: "",
      metadata: {},
      storedInput: null,
      outputs: [],
      history: "stored",
      read: (query) => this.#storage.transaction(query),
      answersKept: new Map(),
      keepsResults: false,
      interruptBytesMax: Infinity,
      onWrite: () => store(saver.take()),
      settle: () => store(saver.take()),
      onFailure: (error) => {
        throw error;
      },
    });
    return saver;
  }

  override async getTuple(config: Config): ReturnType<Saver["getTuple"]> {
    return config.configurable?.["thread_id"] === undefined ? undefined : this.#of(config).getTuple(config);
  }

  override async *list(config: Config, options: Parameters<Saver["list"]>[1]): ReturnType<Saver["list"]> {
    const { thread_id: threadId, checkpoint_ns: ns } = config.configurable ?? {};
    let left = options?.limit ?? Infinity;
    for (const thread of threadId === undefined ? this.#savers.keys() : [String(threadId)]) {
      for (const namespace of ns === undefined ? this.#namespaces : [String(ns)]) {
        const at = { configurable: { thread_id: thread, checkpoint_ns: namespace } };
        for await (const tuple of this.#of(at).list(at, options)) if (left-- > 0) yield tuple;
      }
    }
  }

  override async put(config: Config, ...rest: ParametersAfterConfig<"put">): ReturnType<Saver["put"]> {
    return this.#of(config).put(config, ...rest);
  }

  override async putWrites(config: Config, ...rest: ParametersAfterConfig<"putWrites">): Promise<void> {
    await this.#of(config, true).putWrites(config, ...rest);
  }

  override async getDeltaChannelHistory(query: Parameters<Saver["getDeltaChannelHistory"]>[0]) {
    return this.#of(query.config).getDeltaChannelHistory(query);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#storage.transaction((tx) => tx.deleteThread(threadId));
    this.#savers.delete(threadId);
  }
}

type ParametersAfterConfig<Name extends "put" | "putWrites"> =
  Parameters<Saver[Name]> extends [Config, ...infer Rest] ? Rest : never;

const folder = temporaryFolder();
const sqlite = createSqliteStorage({ folder, owner: "the suite", versions: VERSIONS, log: silent });
await sqlite.start();
after(async () => {
  await sqlite.stop();
  removeFolder(folder);
});

const uri = await newDatabase();
const postgres = createPostgresStorage({ uri, poolMax: 4, versions: VERSIONS, log: silent });
await postgres.start();
beforeDrop(() => postgres.stop());

for (const [checkpointerName, storage] of [
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
] as const) {
  const initializer = { checkpointerName, createCheckpointer: () => new ThreadSavers(storage) };
  specTest(initializer);
  if (!onOldest) deltaChannelHistoryTests(initializer); // LangGraph 1.5 and later have such channels
}
