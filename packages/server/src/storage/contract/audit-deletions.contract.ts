// Contract of deleted audit entries, one part of storage.contract.ts. Each case is a copy of a storage in which a person
// with access to the database moved an entry to the deleted ones.
// Rules:
//   contract/audit-deletions.1. A verification finds it, however it is disguised.
//   contract/audit-deletions.2. It finds nothing where retention or the deletion of a thread removed entries, also when
//        another thread has the same id later.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { verifyAudit } from "../../inbox/audit/verify-audit.ts";
import { cutOffDigest } from "../../model/audit/audit-chain.ts";
import type { AuditEntry, Thread } from "../../model/model.ts";
import type { Storage } from "../../ports/ports.ts";
import { DUMP_TABLES, type DumpTable } from "../dump/dump-tables.ts";
import type { DumpRow } from "../dump/dump.ts";
import type { OpenStorage } from "./open-storage.ts";

interface Makers {
  readonly newThread: (changes?: Partial<Thread>) => Thread;
  readonly newId: () => string;
}

type Opened = Awaited<ReturnType<OpenStorage>>;
type NamedRow = readonly [table: string, row: DumpRow];
type Change = (name: string, row: DumpRow) => NamedRow | null;
/** Kind, position, last position, number in the thread. */
type Place = readonly [fault: string, position: number, last: number, seq: number | null];

const buildEntry = (threadId: string, at: number): AuditEntry => ({
  threadId,
  at,
  action: "answered",
  by: "ann",
  interruptId: "q",
  runId: null,
  value: at,
});

const OTHER = "00000000-0000-4000-8000-000000000000";

export function auditDeletionCases(open: OpenStorage, { newThread, newId }: Makers): void {
  /** Five entries of one thread in one chain; retention has deleted the first two. */
  const filled = async (t: TestContext) => {
    const storage = await open(t);
    const threadId = newId();
    await storage.transaction(async (tx) => {
      await tx.insertThread(newThread({ threadId, createdAt: 1 }));
      await tx.audit([1, 2, 3, 4, 5].map((at) => buildEntry(threadId, at)));
    });
    await storage.transaction((tx) => tx.deleteAuditBefore(threadId, 3));
    return { storage, threadId, rows: await readRows(storage) };
  };

  const CASES: readonly { readonly name: string; readonly change: Change; readonly faults: readonly Place[] }[] = [
    { name: "as it is", change: moveThird(), faults: [["early", 3, 3, 3]] },
    { name: "with an earlier time", change: moveThird({ at: 1 }), faults: [["changed", 3, 3, 3]] },
    {
      name: "as one of another thread",
      change: moveThird({ thread_id: OTHER }),
      faults: [
        ["changed", 3, 3, 3],
        ["gap", 3, 3, 3],
      ],
    },
    {
      name: "as one of no thread",
      change: moveThird({ thread_id: null, at: null }),
      faults: [
        ["changed", 3, 3, 3],
        ["gap", 3, 3, 3],
      ],
    },
    {
      name: "with another number",
      change: moveThird({ seq: 2 }),
      faults: [
        ["changed", 3, 3, 2],
        ["early", 3, 3, 2],
        ["gap", 3, 3, 3],
      ],
    },
    {
      name: "with a later cut-off",
      change: moveThird({}, (row) => ({ ...row, at: 9 })),
      faults: [["changed", 6, 6, 0]],
    },
    {
      name: "with a later cut-off and a text that fits",
      change: moveThird({}, (row) => ({ ...row, at: 9, digest: digestCutOff(row, 9) })),
      faults: [["changed", 6, 6, 0]],
    },
    {
      name: "with a cut-off of another thread",
      change: moveThird({}, (row) => ({ ...row, thread_id: OTHER })),
      faults: [
        ["changed", 6, 6, 0],
        ["early", 1, 1, 1],
        ["early", 2, 2, 2],
        ["early", 3, 3, 3],
      ],
    },
    {
      name: "with a cut-off past the end of the chain",
      change: moveThird({}, (row) => ({ ...row, position: 7, at: 9, digest: digestCutOff(row, 9) })),
      faults: [
        ["added", 7, 7, 0],
        ["missing", 6, 6, null],
      ],
    },
  ];
  for (const { name, change, faults } of CASES) {
    test(`a verification finds an entry among the deleted ones, moved there ${name} (contract/audit-deletions.1)`, async (t) => {
      const { rows } = await filled(t);
      assert.deepEqual(await places(await load(await open(t), rows, change)), faults);
    });
  }

  test("deletions by retention and with a thread are no faults (contract/audit-deletions.2)", async (t) => {
    const { storage, threadId } = await filled(t);
    assert.deepEqual(await places(storage), []);
    await storage.transaction((tx) => tx.deleteAuditBefore(threadId, 5));
    await storage.transaction((tx) => tx.audit([buildEntry(threadId, 6)]));
    assert.deepEqual(await places(storage), []);
    await storage.transaction((tx) => tx.deleteThread(threadId));
    assert.deepEqual(await places(storage), []);
    await storage.transaction(async (tx) => {
      await tx.insertThread(newThread({ threadId, createdAt: 7 }));
      await tx.audit([buildEntry(threadId, 8), buildEntry(threadId, 9)]);
    });
    assert.deepEqual(await places(storage), []);
    const copy = await load(await open(t), await readRows(storage), (name, row) => [name, row]);
    assert.deepEqual(await places(copy), []);
  });
}

/** Sorted, so that cases do not depend on the order of checks. */
async function places(storage: Storage): Promise<readonly Place[]> {
  const { faults } = await verifyAudit({ storage }, []);
  return faults
    .map(({ fault, position, last, seq }): Place => [fault, position, last, seq])
    .toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
}

function readRows(storage: Opened): Promise<readonly NamedRow[]> {
  return storage.dump(async (port) => {
    const all: NamedRow[] = [];
    for (const table of DUMP_TABLES) for (const row of await port.read(table, null, 100)) all.push([table.name, row]);
    return all;
  });
}

async function load(storage: Opened, rows: readonly NamedRow[], change: Change): Promise<Opened> {
  const tables = new Map(DUMP_TABLES.map((table) => [table.name, table]));
  const changed = rows.map(([name, row]) => change(name, row)).filter((row) => row !== null);
  async function* each(): AsyncGenerator<readonly [DumpTable, DumpRow]> {
    for (const [name, row] of changed) yield [tables.get(name) ?? assert.fail(name), row];
  }
  await storage.dump((port) => port.load(each()));
  return storage;
}

const digestCutOff = ({ thread_id: threadId }: DumpRow, at: number): string =>
  cutOffDigest({ threadId: String(threadId), at });

/** @param changes of the moved row @param cutOff its new row */
function moveThird(changes: DumpRow = {}, cutOff: (row: DumpRow) => DumpRow = (row) => row): Change {
  return (name, row) => {
    if (name === "audit_deleted" && row["seq"] === 0) return [name, cutOff(row)];
    if (name !== "audit" || row["position"] !== 3) return [name, row];
    const { chain = 0, position = 0, seq = 0, digest = "", thread_id = "", at = 0 } = row;
    return ["audit_deleted", { chain, position, seq, digest, thread_id, at, ...changes }];
  };
}
