// Contract of dumps, for every adapter: dump-tables.1 (complete), dump.1 (all or nothing), dump.2 (rejects damage),
// dump.3 (rows keep their content).
// test/cluster/move.test.ts checks that threads continue after a move.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DUMP_TABLES, type DumpTable } from "../dump/dump-tables.ts";
import { exportLines, importLines, type Dumpable, type DumpRow } from "../dump/dump.ts";

export interface OpenedForDumps {
  readonly storage: Dumpable;
  /** `table.column` of every stored column that the adapter does not derive. */
  readonly stored: () => Promise<readonly string[]>;
}

const VERSIONS = { holdpoint: "0.0.0", library: "1.4.18" };

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const ODD = 'NUL \u0000, lone \ud800, lines \u2028\u2029\r\n, "quotes" \\ 🙂';

/** A row with a value in every column; `number` makes it unique. */
function buildRow({ columns }: DumpTable, number: number): DumpRow {
  const values = {
    text: `${ODD} ${number}`,
    json: JSON.stringify({ [ODD]: number }),
    jsontext: JSON.stringify({ by: ODD, at: 1, until: number }),
    value: JSON.stringify([null, false, ODD, [1], { a: [] }][number % 5]),
    integer: number,
    boolean: number % 2 === 0,
    bytes: Uint8Array.of(0, 255, number),
  };
  const cells = Object.entries(columns).map(([column, type]) => [column, values[type]] as const);
  return Object.fromEntries(cells);
}

const ROWS = DUMP_TABLES.flatMap((table) =>
  Array.from({ length: 60 }, (_, at) => [table, buildRow(table, at)] as const),
);

/** @param open opens an empty storage for the test */
export function dumpContract(adapter: string, open: (t: TestContext) => Promise<OpenedForDumps>): void {
  const exported = (storage: Dumpable): Promise<readonly string[]> =>
    storage.dump((port) => Array.fromAsync(exportLines(port, VERSIONS)));
  const imported = (storage: Dumpable, lines: readonly string[]): Promise<unknown> =>
    storage.dump((port) => importLines(port, each(lines.map((line) => line.slice(0, -1))), VERSIONS));
  const dumped = async (t: TestContext): Promise<readonly string[]> => {
    const { storage } = await open(t);
    await storage.dump((port) => port.load(each(ROWS)));
    return exported(storage);
  };

  test(`${adapter}: a dump contains every table and column of the storage (dump-tables.1)`, async (t) => {
    const stored = await (await open(t)).stored();
    const listed = DUMP_TABLES.flatMap(({ name, columns }) =>
      Object.keys(columns).map((column) => `${name}.${column}`),
    );
    assert.deepEqual(
      listed.toSorted(),
      stored.toSorted(),
      "packages/server/src/storage/dump/dump-tables.ts has to list what is stored",
    );
  });

  test(`${adapter}: loading and dumping again yields the same bytes, over many pages, for any value (dump.3)`, async (t) => {
    const lines = await dumped(t);
    assert.equal(lines.length, ROWS.length + 2);
    // one line for every line reader
    for (const line of lines) assert.equal(line.split(/[\n\r\u2028\u2029]/).length, 2);
    const { storage } = await open(t);
    await imported(storage, lines);
    assert.deepEqual(await exported(storage), lines);
  });

  test(`${adapter}: a column missing from an older dump gets the default of its migration (dump.3)`, async (t) => {
    const { storage } = await open(t);
    const threads = DUMP_TABLES.find(({ name }) => name === "threads");
    assert.ok(threads !== undefined);
    const { pruned_at: _new, ...older } = buildRow(threads, 1);
    await storage.dump((port) => port.load(each([[threads, older] as const])));
    assert.equal((await storage.dump(async (port) => port.read(threads, null, 1)))[0]?.["pruned_at"], 0);
  });

  test(`${adapter}: a dump that is damaged, truncated or newer fails as a whole (dump.1, dump.2)`, async (t) => {
    const lines = await dumped(t);
    const at = (index: number, line: string): readonly string[] => lines.with(index, `${line}\n`);
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [lines.slice(0, -1), /truncated/],
      [lines.slice(0, 40), /truncated/],
      [lines.toSpliced(50, 1), /checksum/],
      [[...lines, lines[50] ?? ""], /follows the last line/],
      [at(50, (lines[50] ?? "").slice(0, 20)), /line 51 is not JSON/],
      [at(50, '["secrets",{}]'), /line 51 is not a row/],
      [at(50, '["threads",{"mood":"x"}]'), /threads has no column mood/],
      [at(50, '["threads",{"toString":"x"}]'), /threads has no column toString/],
      [at(50, '["threads",{"created_at":"x"}]'), /line 51: threads\.created_at has the wrong type/],
      [at(50, '["threads",{"metadata":"{no"}]'), /line 51: threads\.metadata is not JSON/],
      [at(50, '["threads",{"config":""}]'), /line 51: threads\.config is not JSON/],
      [at(50, '["interrupts",{"value":"a"}]'), /line 51: interrupts\.value is not JSON/],
      [at(50, '["threads",{"thread_id":"x"}]'), /nothing is imported: .*null/i],
      [lines.toSpliced(50, 0, lines[49] ?? ""), /nothing is imported: .*unique/i],
      [at(0, '{"holdpoint_dump":-1,"library":"1.4.18"}'), /not a Holdpoint dump/],
      [at(0, '{"holdpoint_dump":2,"library":"1.4.18"}'), /newer version of Holdpoint/],
      [at(0, '{"holdpoint_dump":1,"library":"9.0.0"}'), /states come from @langchain\/langgraph 9\.0\.0/],
      [at(0, '["threads",{}]'), /not a Holdpoint dump/],
      [[], /truncated/],
    ];
    const { storage } = await open(t);
    const empty = await exported(storage);
    for (const [wrong, reason] of cases) await assert.rejects(imported(storage, wrong), reason);
    assert.deepEqual(await exported(storage), empty); // dump.1
    await imported(storage, lines);
    await assert.rejects(imported(storage, empty), /not empty/); // dump.1
  });
}
