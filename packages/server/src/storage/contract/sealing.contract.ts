// Contract of encryption at rest; each adapter's test file runs it.
// Rules:
//   contract/sealing.1. Every sealed column is sealed, and read back as it was; a moved value does not open.
//   contract/sealing.2. A rewrite gives every value the newest key, from plain or from another key, and goes on where it
//        stopped.
//   contract/sealing.4. A pending run that does not open fails, and holds no other. A running one fails at recovery, and
//        lists leave it out.
//   contract/sealing.3. Without one of the keys that values need, or with a false one, the storage does not start.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { suite, test, type TestContext } from "node:test";
import type { EncryptionKey } from "@holdpoint/base/keyring.ts";
import type { Run, Thread } from "../../model/model.ts";
import type { Awaitable, Storage, Tx } from "../../ports/ports.ts";
import type { Dumpable, DumpRow, DumpValue } from "../dump/dump.ts";
import { DUMP_TABLES, type DumpTable } from "../dump/dump-tables.ts";
import { TABLES } from "../shared/sealed-columns.ts";
import { findCells, type ReadRows } from "./sealed.contract.ts";
import { CLAIM, newCheckpoint, newId, newRun, newThread } from "./samples.contract.ts";

type SealedStorage = Storage & Dumpable & { start(): Promise<void>; stop(): Promise<void> };

/** One database, which storages open one after another. */
export interface SealedPlace {
  readonly create: (keys: readonly EncryptionKey[]) => SealedStorage;
  /** Past the storage. */
  readonly readRows: ReadRows;
  readonly schema: string;
}

const [OLD, NEW] = ["old", "new"].map((id): EncryptionKey => ({ id, key: randomBytes(32) })) as [
  EncryptionKey,
  EncryptionKey,
];
const NAMES = DUMP_TABLES.map(({ name }) => name);
const ALL = NAMES.flatMap((name) => Object.keys(TABLES[name]?.sealed ?? {}).map((column) => `${name}.${column}`));

function sampleRow({ name, columns }: DumpTable): DumpRow {
  const sample = (column: string, type: DumpTable["columns"][string]): DumpValue => {
    if (type === "integer") return 1;
    if (type === "boolean") return false;
    if (column === "claim") return null;
    const text = `canary ${name}.${column}`;
    if (type === "bytes") return new Uint8Array(Buffer.from(text.padEnd(64)));
    if (column === "review") return JSON.stringify({ assignees: [["ann"]], votes: [text] });
    return TABLES[name]?.sealed[column] === undefined && type === "text" ? "x" : JSON.stringify({ text });
  };
  return Object.fromEntries(Object.entries(columns).map(([column, type]) => [column, sample(column, type)]));
}

async function using<T>(storage: SealedStorage, work: (storage: SealedStorage) => Promise<T>): Promise<T> {
  await storage.start();
  try {
    return await work(storage);
  } finally {
    await storage.stop();
  }
}

/** One row in every table. */
const fill = (storage: SealedStorage): Promise<void> =>
  storage.dump((port) =>
    port.load(
      (async function* () {
        for (const table of DUMP_TABLES) yield [table, sampleRow(table)] as const;
      })(),
    ),
  );

const readAll = (storage: SealedStorage): Promise<unknown> =>
  storage.dump(async (port) => {
    const rows: Record<string, DumpRow | undefined> = {};
    for (const table of DUMP_TABLES) rows[table.name] = (await port.read(table, null, 2))[0];
    return rows;
  });

const EXPECTED = Object.fromEntries(DUMP_TABLES.map((table) => [table.name, sampleRow(table)]));

/** Buffers and arrays of bytes are equal by content. */
const comparable = (rows: unknown): unknown =>
  JSON.parse(
    JSON.stringify(rows, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
    ).replaceAll(/\{"type":"Buffer","data":\[([\d,]*)\]\}/g, (_, list: string) =>
      JSON.stringify(Buffer.from(list.split(",").map(Number)).toString("base64")),
    ),
  );

/** @param steps pages to rewrite at most */
async function rewrite(storage: SealedStorage, steps = Infinity): Promise<number> {
  let { place } = await storage.read((tx) => tx.sealingState());
  for (let rows = 0, step = 1; ; step++) {
    const at = place;
    const page = await storage.transaction((tx) => tx.resealPage(at, 2));
    rows += page.rows;
    place = page.next;
    if (place === null) await storage.transaction((tx) => tx.resealed(page.left));
    if (place === null || step >= steps) return rows;
  }
}

async function insertRuns(storage: SealedStorage, threads: readonly Thread[], runs: readonly Run[]): Promise<void> {
  await storage.transaction(async (tx) => {
    for (const workerId of new Set(runs.flatMap((run) => run.workerId ?? []))) await tx.addWorker(workerId);
    for (const thread of threads) await tx.insertThread(thread);
    for (const run of runs) await tx.insertRun(run);
    for (const { threadId } of threads) await tx.queueNext(threadId);
  });
}

const moveCell = (
  table: string,
  column: string,
  key: string,
  [from, to]: readonly [string | undefined, string | undefined],
): string =>
  `UPDATE ${table} SET ${column} = (SELECT ${column} FROM ${table} WHERE ${key} = '${from}')
   WHERE ${key} = '${to}' RETURNING 1`;

/** @param runs one with a moved request, and one with a moved config of its thread */
async function assertFailed(
  storage: SealedStorage,
  { moved, ofThread }: { readonly moved: Run | undefined; readonly ofThread: Run | undefined },
  readRows: ReadRows,
  schema: string,
): Promise<void> {
  const ids = `'${moved?.runId}', '${ofThread?.runId}'`;
  const ended = await readRows(`SELECT status, ended_by, place FROM ${schema}runs WHERE run_id IN (${ids})`);
  assert.deepEqual(
    ended.map((row) => ({ ...row })),
    Array.from({ length: 2 }, () => ({ status: "error", ended_by: "failure", place: null })),
  );
  const run = await storage.read((tx) => tx.run(ofThread?.threadId ?? "", ofThread?.runId ?? ""));
  assert.equal(run?.error?.error, "sealed_value_unreadable");
  const thread = await storage.read((tx) => tx.thread(moved?.threadId ?? ""));
  assert.equal(thread?.status, "error");
}

/** @param open a new database for a test */
export function sealingContract(adapter: string, open: (t: TestContext) => Promise<SealedPlace>): void {
  suite(`encryption at rest on ${adapter}`, () => {
    test("every sealed column is sealed, and read back as it was (contract/sealing.1)", async (t) => {
      const { create, readRows, schema } = await open(t);
      await using(create([NEW]), async (storage) => {
        await fill(storage);
        const { others, sealed } = await findCells(readRows, schema, NAMES, "new");
        assert.deepEqual([others, [...sealed].toSorted()], [[], ALL.toSorted()]);
        for (const name of NAMES)
          for (const row of await readRows(`SELECT * FROM ${schema}${name}`))
            for (const [column, cell] of Object.entries(row)) {
              const text = cell instanceof Uint8Array ? Buffer.from(cell).toString("latin1") : String(cell);
              const isPlain = TABLES[name]?.sealed[column] === undefined;
              assert.ok(isPlain || !text.includes("canary"), `${name}.${column}`);
            }
        assert.deepEqual(comparable(await readAll(storage)), comparable(EXPECTED));
      });
    });

    for (const [name, first] of [
      ["plain values", []],
      ["values of another key", [OLD]],
    ] as const)
      test(`${name} are read, and rewritten with the newest key (contract/sealing.2)`, async (t) => {
        const { create, readRows, schema } = await open(t);
        await using(create(first), fill);
        await using(create([NEW, OLD]), async (storage) => {
          assert.deepEqual(comparable(await readAll(storage)), comparable(EXPECTED));
          await rewrite(storage, 5);
          assert.notEqual((await storage.read((tx) => tx.sealingState())).place, null);
        });
        await using(create([NEW, OLD]), async (storage) => {
          assert.ok((await rewrite(storage)) > 5);
          const { place, inUse, isComplete } = await storage.read((tx) => tx.sealingState());
          assert.deepEqual({ place, inUse, isComplete }, { place: null, inUse: ["new"], isComplete: true });
          assert.deepEqual((await findCells(readRows, schema, NAMES, "new")).others, []);
          assert.equal(await rewrite(storage), 0);
        });
        await using(create([NEW]), async (storage) =>
          assert.deepEqual(comparable(await readAll(storage)), comparable(EXPECTED)),
        );
      });

    test("a false or missing key is refused before the start, and nothing is changed (contract/sealing.3)", async (t) => {
      const { create } = await open(t);
      await using(create([OLD]), fill);
      const rows: readonly [readonly EncryptionKey[], RegExp][] = [
        [[], /need the key "old", which is not given/],
        [[NEW], /need the key "old", which is not given/],
        [[{ id: "old", key: randomBytes(32) }], /the key "old" is another one/],
        [[NEW, { id: "old", key: randomBytes(32) }], /the key "old" is another one/],
      ];
      for (const [keys, reason] of rows)
        await assert.rejects(create(keys).start(), { name: "ConfigError", message: reason });
      await using(create([OLD]), async (storage) =>
        assert.deepEqual(comparable(await readAll(storage)), comparable(EXPECTED)),
      );
    });

    test("a value that was moved to another thread fails there alone (contract/sealing.1)", async (t) => {
      const { create, readRows, schema } = await open(t);
      const [one, other, third] = [newId(), newId(), newId()];
      await using(create([NEW]), async (storage) => {
        const checkpoints = [one, other, third].map((threadId) => newCheckpoint(threadId, "1", { channel: "value" }));
        await storage.transaction(async (tx) => {
          for (const { threadId } of checkpoints) await tx.insertThread(newThread({ threadId }));
          await tx.putWriteSet({ checkpoints, writes: [], blobs: [] });
        });
        await readRows(moveCell(`${schema}checkpoints`, "small", "thread_id", [one, other]));
        const read = (threadId: string) => storage.transaction((tx) => tx.checkpoint(threadId, "", null));
        await assert.rejects(read(other), { code: "sealed_value_unreadable", message: new RegExp(other) });
        for (const threadId of [one, third]) assert.equal((await read(threadId))?.checkpoint.threadId, threadId);
      });
    });

    test("a pending run that does not open fails when its turn comes, and holds no other (contract/sealing.4)", async (t) => {
      const { create, readRows, schema } = await open(t);
      const threads = Array.from({ length: 3 }, () => newThread({ status: "busy", config: { text: "sealed" } }));
      const runs = threads.map(({ threadId }) => newRun(threadId));
      const [moved, ofThread, last] = runs;
      await using(create([NEW]), async (storage) => {
        await insertRuns(storage, threads, runs);
        await readRows(moveCell(`${schema}runs`, "request", "run_id", [last?.runId, moved?.runId]));
        await readRows(moveCell(`${schema}threads`, "config", "thread_id", [last?.threadId, ofThread?.threadId]));
        const next = () => storage.transaction((tx) => tx.claimPendingRun(CLAIM, null));
        assert.equal((await next())?.run.runId, last?.runId);
        assert.equal(await next(), null);
        await assertFailed(storage, { moved, ofThread }, readRows, schema);
      });
    });

    test("a running run that does not open fails at recovery, and lists leave it out (contract/sealing.4)", async (t) => {
      const { create, readRows, schema } = await open(t);
      const threads = Array.from({ length: 3 }, () => newThread({ status: "busy", config: { text: "sealed" } }));
      const runs = threads.map(({ threadId }) => newRun(threadId, { status: "running", workerId: "w", attempt: 1 }));
      const [moved, ofThread, last] = runs;
      await using(create([NEW]), (storage) => insertRuns(storage, threads, runs));
      await readRows(moveCell(`${schema}runs`, "request", "run_id", [last?.runId, moved?.runId]));
      await readRows(moveCell(`${schema}threads`, "config", "thread_id", [last?.threadId, ofThread?.threadId]));
      await using(create([NEW]), async (storage) => {
        const lists: readonly ((tx: Tx) => Awaitable<readonly Run[]>)[] = [
          (tx) => tx.runningRuns(),
          (tx) => tx.runningRuns("w"),
          (tx) => tx.allActiveRuns({ status: "running", after: null, limit: 9 }),
          (tx) => tx.runsOfAssistant(last?.assistantId ?? "", "active", 9),
          (tx) => tx.activeRuns(moved?.threadId ?? ""),
          (tx) => tx.activeRuns(last?.threadId ?? ""),
        ];
        const found: string[][] = [];
        for (const list of lists)
          found.push((await storage.transaction(async (tx) => list(tx))).map(({ runId }) => runId).toSorted());
        const opened = [ofThread, last].map((run) => run?.runId ?? "").toSorted();
        assert.deepEqual(found, [opened, opened, opened, opened, [], [last?.runId]]);
        await storage.transaction((tx) => tx.failUnreadableRuns(9, "another"));
        assert.equal((await storage.transaction((tx) => tx.runningRuns("w"))).length, 2);
        await storage.transaction((tx) => tx.failUnreadableRuns(9, "w"));
        const left = await storage.transaction((tx) => tx.runningRuns());
        assert.deepEqual(
          left.map(({ runId }) => runId),
          [last?.runId],
        );
        await assertFailed(storage, { moved, ofThread }, readRows, schema);
      });
    });
  });
}
