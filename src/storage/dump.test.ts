// Tests of dumps: DT1 (nothing of a storage is left out), DU1 (whole or not at all), DU2 (what is damaged is refused),
// DU3 (rows come as they were). That threads go on after a move is in test/move.test.ts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { createLog } from "../base/log.ts";
import { DUMP_TABLES, type DumpTable } from "./dump-tables.ts";
import { exportLines, importLines, type DumpPort, type DumpRow } from "./dump.ts";
import { createSqliteStorage } from "./sqlite/storage.ts";

const VERSIONS = { holdpoint: "0.0.0", library: "1.4.18" };
const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function withStorage<T>(work: (dump: DumpPort, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-dump-"));
  folders.push(folder);
  const storage = createSqliteStorage({ folder, owner: "test", versions: VERSIONS, log });
  await storage.start();
  try {
    return await work(storage.dump(), folder);
  } finally {
    await storage.stop();
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const ODD = 'NUL \u0000, lone \ud800, lines \u2028\u2029\r\n, "quotes" \\ 🙂';

/** A row with something in every column, told apart from others by `number`. */
function rowOf({ columns }: DumpTable, number: number): DumpRow {
  const values = {
    text: `${ODD} ${number}`,
    json: JSON.stringify({ [ODD]: number }),
    integer: number,
    boolean: number % 2 === 0,
    bytes: Uint8Array.of(0, 255, number),
  };
  return Object.fromEntries(Object.entries(columns).map(([column, type]) => [column, values[type]]));
}

const ROWS = DUMP_TABLES.flatMap((table) => Array.from({ length: 120 }, (_, at) => [table, rowOf(table, at)] as const));

async function dumped(): Promise<readonly string[]> {
  return withStorage(async (dump) => {
    await dump.load(each(ROWS));
    return Array.fromAsync(exportLines(dump, VERSIONS));
  });
}

const load = (lines: readonly string[], versions = VERSIONS): Promise<readonly string[]> =>
  withStorage(async (dump) => {
    await importLines(dump, each(lines.map((line) => line.slice(0, -1))), versions);
    return Array.fromAsync(exportLines(dump, VERSIONS));
  });

test("every table and column of the storage is in a dump (DT1)", async () => {
  await withStorage((_, folder) => {
    const db = new DatabaseSync(join(folder, "holdpoint.db"), { readOnly: true });
    const query = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master AS t, pragma_table_info(t.name) AS c
      WHERE t.type = 'table' AND t.name NOT IN ('meta', 'sqlite_sequence')`;
    const stored = db
      .prepare(query)
      .all()
      .map((row) => `${String(row["table"])}.${String(row["column"])}`);
    db.close();
    const listed = DUMP_TABLES.flatMap(({ name, columns }) =>
      Object.keys(columns).map((column) => `${name}.${column}`),
    );
    assert.deepEqual(listed.toSorted(), stored.toSorted(), "src/storage/dump-tables.ts has to list what is stored");
    return Promise.resolve();
  });
});

test("what is loaded is dumped as the same bytes, over many pages, whatever it is (DU3)", async () => {
  const lines = await dumped();
  assert.equal(lines.length, ROWS.length + 2);
  for (const line of lines) assert.equal(line.split(/[\n\r\u2028\u2029]/).length, 2); // one line, however it is read
  assert.deepEqual(await load(lines), lines);
});

test("columns that an older dump does not have get what a migration gives them (DU3)", async () => {
  await withStorage(async (dump) => {
    const [threads] = DUMP_TABLES.filter(({ name }) => name === "threads");
    assert.ok(threads !== undefined);
    const { pruned_at: _new, ...older } = rowOf(threads, 1);
    await dump.load(each([[threads, older] as const]));
    assert.equal((await dump.read(threads, null, 1))[0]?.["pruned_at"], 0);
  });
});

test("a dump that is damaged, cut off, or from a newer version is refused whole (DU1, DU2)", async () => {
  const lines = await dumped();
  const at = (index: number, line: string): readonly string[] => lines.with(index, `${line}\n`);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [lines.slice(0, -1), /cut off/],
    [lines.slice(0, -40), /cut off/],
    [lines.toSpliced(50, 1), /checksum/],
    [lines.toSpliced(50, 0, lines[50] ?? ""), /UNIQUE|checksum/],
    [[...lines, lines[50] ?? ""], /after the end/],
    [at(50, (lines[50] ?? "").slice(0, 20)), /line 51 is not JSON/],
    [at(50, '["secrets",{}]'), /line 51 is no row/],
    [at(50, '["threads",{"mood":"x"}]'), /threads has no mood/],
    [at(50, '["threads",{"toString":"x"}]'), /threads has no toString/],
    [at(50, '["threads",{"created_at":"x"}]'), /wrong type/],
    [at(0, '{"holdpoint_dump":2,"library":"1.4.18"}'), /newer version of Holdpoint/],
    [at(0, '{"holdpoint_dump":1,"library":"9.0.0"}'), /9\.0\.0 wrote its states/],
    [at(0, '["threads",{}]'), /no dump of Holdpoint/],
    [[], /cut off/],
  ];
  await withStorage(async (dump) => {
    for (const [wrong, reason] of cases) {
      const text = wrong.map((line) => line.slice(0, -1));
      await assert.rejects(importLines(dump, each(text), VERSIONS), reason);
      for (const table of DUMP_TABLES) assert.deepEqual(await dump.read(table, null, 1), [], String(reason));
    }
    await importLines(dump, each(lines.map((line) => line.slice(0, -1))), VERSIONS);
    await assert.rejects(importLines(dump, each([]), VERSIONS), /not empty/); // DU1
  });
});
