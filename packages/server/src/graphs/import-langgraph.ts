// Import of a database that the library's own PostgresSaver and PostgresStore wrote. The project's copy of the saver reads
// it, so that its tables and its texts are the library's business.
// Invariants:
//   import-langgraph.1. Each thread comes in one transaction, with its pause; one that is here already is left alone, so an
//        interrupted import is repeated.
//   - The other database is only read.
//   import-langgraph.3. A thread with an open question gets a run without input: at the next start it asks the same
//        question, under the same id, as every continued pause does.
import { Client, escapeIdentifier } from "pg";
import type { CheckpointTuple } from "@langchain/langgraph";
import { createIdSource, isUuid, uuidV5, type NewId } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { BUILT_IN_NAMESPACE, builtInAssistantId } from "../model/built-in-assistant.ts";
import type { Fingerprint, Run, StoreItem, Thread } from "../model/model.ts";
import type { Storage } from "../ports/ports.ts";
import { type ImportedRows, importThread } from "./checkpoints/import-thread.ts";
import { createCodec, type Codec } from "./checkpoints/codec/value-codec.ts";
import type { GraphsConfig, GraphSource } from "./config/langgraph-json.ts";
import { importPackage, loadLibrary, type Library } from "./langgraph/library.ts";
import { loadGraph } from "./loading/load-graph.ts";

export interface ForeignDatabase {
  readonly uri: string;
  readonly schema: string;
  /** null: the only one of langgraph.json */
  readonly graphId: string | null;
}

export type ImportCounts = Readonly<Record<"threads" | "questions" | "known_threads" | "store_items", number>>;

interface Saver {
  list(config: object): AsyncGenerator<CheckpointTuple>;
  end(): Promise<void>;
}
interface SaverPackage {
  readonly PostgresSaver: { fromConnString(uri: string, options: { readonly schema: string }): Saver };
}

const PACKAGE = "@langchain/langgraph-checkpoint-postgres";

/** Reads the database of the library's saver. */
interface Reading {
  readonly client: Client;
  readonly saver: Saver;
  readonly schema: string;
}

/** @param now milliseconds @throws {Error} with a message for the user */
export async function importLangGraph(
  storage: Storage,
  config: Pick<GraphsConfig, "folder" | "graphs">,
  from: ForeignDatabase,
  now: () => number,
): Promise<ImportCounts> {
  const source = chooseGraph(config, from.graphId);
  const [library, { fingerprint }, { PostgresSaver }] = await Promise.all([
    loadLibrary(config.folder),
    loadGraph(source, config.folder),
    importPackage<SaverPackage>(PACKAGE, config.folder),
  ]);
  const newId = createIdSource(now, await storage.transaction((tx) => tx.newestRunId()));
  const context: ThreadContext = { storage, library, codec: createCodec(library), fingerprint, newId, now };
  await storage.transaction((tx) => tx.putFingerprint(fingerprint, now()));
  const client = new Client({ connectionString: from.uri });
  await client.connect();
  const saver = PostgresSaver.fromConnString(from.uri, { schema: from.schema });
  const reading: Reading = { client, saver, schema: escapeIdentifier(from.schema) };
  try {
    const threads = await importThreads(context, reading);
    return { ...threads, store_items: await importStore(storage, reading) };
  } finally {
    await saver.end();
    await client.end();
  }
}

function chooseGraph({ graphs }: Pick<GraphsConfig, "graphs">, graphId: string | null): GraphSource {
  const found = graphId === null && graphs.length === 1 ? graphs[0] : graphs.find((one) => one.graphId === graphId);
  if (found !== undefined) return found;
  const known = graphs.map((one) => one.graphId).join(", ");
  throw new Error(
    graphId === null
      ? `a PostgresSaver does not say whose threads it has: name the graph with --graph (${known})`
      : `there is no graph "${graphId}" in langgraph.json (${known})`,
  );
}

interface ThreadContext {
  readonly storage: Storage;
  readonly library: Library;
  readonly codec: Codec;
  readonly fingerprint: Fingerprint;
  readonly newId: NewId;
  readonly now: () => number;
}

async function importThreads(context: ThreadContext, reading: Reading): Promise<Omit<ImportCounts, "store_items">> {
  const counts = { threads: 0, questions: 0, known_threads: 0 };
  for (const foreignId of await listThreads(reading)) {
    const threadId = isUuid(foreignId) ? foreignId.toLowerCase() : uuidV5(foreignId, BUILT_IN_NAMESPACE);
    if ((await context.storage.transaction((tx) => tx.thread(threadId))) !== null) {
      counts.known_threads++; // import-langgraph.1
      continue;
    }
    const tuples = await Array.fromAsync(reading.saver.list({ configurable: { thread_id: foreignId } }));
    const { library, codec, fingerprint, newId } = context;
    const target = { library, codec, threadId, fingerprint: fingerprint.hash, operationId: newId() };
    const rows = await importThread(target, tuples);
    await insertThread(context, threadId === foreignId ? {} : { langgraph_thread_id: foreignId }, threadId, rows);
    counts.threads++;
    if (rows.asks) counts.questions++;
  }
  return counts;
}

async function hasTable({ client, schema }: Reading, name: string): Promise<boolean> {
  const { rows } = await client.query<{ readonly found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
    `${schema}.${name}`,
  ]);
  return rows[0]?.found === true;
}

async function listThreads(reading: Reading): Promise<readonly string[]> {
  const { client, schema } = reading;
  if (!(await hasTable(reading, "checkpoints")))
    throw new Error(`the database has no table of a PostgresSaver in the schema ${schema.slice(1, -1)}`);
  const { rows } = await client.query<{ thread_id: string }>(
    `SELECT thread_id FROM ${schema}.checkpoints GROUP BY thread_id ORDER BY min(checkpoint_id)`,
  );
  return rows.map((row) => row.thread_id);
}

/** import-langgraph.1, import-langgraph.3. */
async function insertThread(
  { storage, fingerprint: { graphId }, newId }: ThreadContext,
  metadata: JsonObject,
  threadId: string,
  { set, asks, checkpointId, createdAt, updatedAt }: ImportedRows,
): Promise<void> {
  const assistantId = builtInAssistantId(graphId);
  const thread: Thread = {
    threadId,
    createdAt,
    updatedAt,
    stateUpdatedAt: updatedAt,
    metadata: { ...metadata, graph_id: graphId, assistant_id: assistantId },
    config: {},
    status: asks ? "busy" : "idle",
    pause: null,
    graphId,
    assistantId,
    checkpointId,
    overlay: null,
    error: null,
    ttlMs: null,
    ttlStrategy: "delete",
    onCompletion: "keep",
    startedBy: [],
  };
  await storage.transaction(async (tx) => {
    await tx.insertThread(thread);
    await tx.putWriteSet(set);
    if (!asks) return;
    await tx.insertRun(buildRun({ runId: newId(), threadId, assistantId, graphId }, updatedAt));
    await tx.queueNext(threadId);
  });
}

/** A run without input: it takes the thread up where it is. */
function buildRun(ids: Pick<Run, "runId" | "threadId" | "assistantId" | "graphId">, at: number): Run {
  return {
    ...ids,
    status: "pending",
    endedBy: null,
    cancelReason: null,
    attempt: 0,
    crashes: 0,
    suspicions: 0,
    alone: 0,
    storageFailures: 0,
    workerId: null,
    createdAt: at,
    updatedAt: at,
    metadata: { created_by: "system", graph_id: ids.graphId, assistant_id: ids.assistantId },
    multitaskStrategy: "enqueue",
    dueAt: null,
    request: {
      command: null,
      config: {},
      context: null,
      interruptBefore: null,
      interruptAfter: null,
      durability: "async",
      checkpointId: null,
      goesFirst: true,
      user: null,
      permissions: [],
    },
    input: null,
    error: null,
    checkpointId: null,
    overlay: null,
    pausedOn: [],
  };
}

interface StoreRow {
  readonly namespace_path: string;
  readonly key: string;
  readonly value: JsonObject;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly expires_at: Date | null;
}

const PAGE = 200;

/** Without vectors: an item is found by meaning once it is written again. @returns the number of new items */
async function importStore(storage: Storage, reading: Reading): Promise<number> {
  const { client, schema } = reading;
  if (!(await hasTable(reading, "store"))) return 0;
  let count = 0;
  let last = ["", ""];
  for (;;) {
    const { rows } = await client.query<StoreRow>(
      `SELECT * FROM ${schema}.store WHERE (namespace_path, key) > ($1, $2) ORDER BY namespace_path, key LIMIT ${PAGE}`,
      last,
    );
    for (const row of rows) if (await putNewItem(storage, row)) count++;
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return count;
    last = [end.namespace_path, end.key];
  }
}

/** @returns false if the item is here already */
async function putNewItem(storage: Storage, row: StoreRow): Promise<boolean> {
  const [createdAt, updatedAt] = [row.created_at.getTime(), row.updated_at.getTime()];
  const expiresAt = row.expires_at?.getTime() ?? null;
  const item: StoreItem = {
    namespace: row.namespace_path.split(":"),
    key: row.key,
    value: row.value,
    createdAt,
    updatedAt,
    expiresAt,
    ttlMs: expiresAt === null ? null : Math.max(0, expiresAt - updatedAt),
  };
  return storage.transaction(async (tx) => {
    if ((await tx.storeItem(item.namespace, item.key, updatedAt)) !== null) return false;
    await tx.putStoreItem(item, []);
    return true;
  });
}
