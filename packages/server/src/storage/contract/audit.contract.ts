// Contract of the audit chains, one part of storage.contract.ts. Each case is a copy of a storage with other rows, as
// a person with access to the database could leave it.
// Rules:
//   contract/audit.20. A verification of an untouched trail finds nothing, whatever was deleted by age or with a thread,
//        and however many transactions wrote at once.
//   contract/audit.21. It finds each entry that was changed, removed or added, also at the end, and names it.
//   contract/audit.23. Acts are in trails of their own, which only age shortens.
//   contract/audit.24. Each destination has its own places in the chains.
//   contract/audit.22. With an anchor it also finds a trail that was rewritten or cut with its heads.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { verifyAudit, type AuditReport } from "../../inbox/audit/verify-audit.ts";
import { ACT_TRAILS } from "../../model/audit-actions.ts";
import { buildAct } from "../../model/audit/build-act.ts";
import { auditDigest, auditHash, NO_CHAIN } from "../../model/audit/audit-chain.ts";
import type { AuditEntry, Thread } from "../../model/model.ts";
import type { Storage } from "../../ports/ports.ts";
import { DUMP_TABLES, type DumpTable } from "../dump/dump-tables.ts";
import type { DumpRow } from "../dump/dump.ts";
import type { OpenStorage } from "./open-storage.ts";

interface Makers {
  readonly newThread: (changes?: Partial<Thread>) => Thread;
  readonly newId: () => string;
}

type Rows = readonly (readonly [DumpTable, DumpRow])[];

const said = { action: "answered", by: "ann \ud800 \u0000", interruptId: "q", runId: null } as const;
const buildEntry = (threadId: string, at: number): AuditEntry => ({
  ...said,
  threadId,
  at,
  value: { at, odd: "\u0000 \ud800" },
  ...(at % 2 === 0 ? { via: "inbox", origin: { address: "::1", userAgent: null } } : {}),
});

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export function auditCases(open: OpenStorage, { newThread, newId }: Makers): void {
  const verify = (storage: Storage, anchor: AuditReport["heads"] = []): Promise<AuditReport> =>
    verifyAudit({ storage }, anchor);

  const readRows = (storage: Awaited<ReturnType<OpenStorage>>): Promise<Rows> =>
    storage.dump(async (port) => {
      const all: (readonly [DumpTable, DumpRow])[] = [];
      for (const table of DUMP_TABLES) for (const row of await port.read(table, null, 100)) all.push([table, row]);
      return all;
    });

  /** Five entries of one thread, in one chain. */
  const filled = async (t: TestContext) => {
    const storage = await open(t);
    const threadId = newId();
    await storage.transaction(async (tx) => {
      await tx.insertThread(newThread({ threadId }));
      for (const at of [1, 2]) await tx.audit([buildEntry(threadId, at)]);
      await tx.audit([3, 4, 5].map((at) => buildEntry(threadId, at)));
    });
    const [head] = await storage.read((tx) => tx.auditHeads());
    return { storage, threadId, chain: head?.chain ?? assert.fail(), rows: await readRows(storage) };
  };

  /** A storage with these rows in place of those. */
  const altered = async (t: TestContext, rows: Rows, change: (name: string, row: DumpRow) => DumpRow | null) => {
    const storage = await open(t);
    const kept = rows.flatMap(([table, row]): Rows => {
      const other = change(table.name, row);
      return other === null ? [] : [[table, other]];
    });
    await storage.dump((port) => port.load(each(kept)));
    return storage;
  };
  const entryAt = (position: number, change: (row: DumpRow) => DumpRow | null) => (name: string, row: DumpRow) =>
    name === "audit" && row["position"] === position ? change(row) : row;

  test("an untouched trail is intact, also after deletions and concurrent writes (contract/audit.20)", async (t) => {
    const { storage, threadId } = await filled(t);
    const others = Array.from({ length: 8 }, newId);
    await Promise.all(
      others.map((id) => storage.transaction((tx) => tx.audit([buildEntry(id, 1), buildEntry(id, 2)]))),
    );
    const all = await verify(storage);
    assert.deepEqual({ ...all, heads: null }, { ...COUNTS, entries: 21, heads: null });
    await storage.transaction((tx) => tx.deleteAuditBefore(threadId, 3));
    await storage.transaction((tx) => tx.deleteThread(others[0] ?? ""));
    assert.deepEqual({ ...(await verify(storage)), heads: null }, { ...COUNTS, entries: 17, deleted: 4, heads: null });
    await storage.transaction((tx) => tx.audit([buildEntry(threadId, 6)]));
    assert.equal((await verify(storage, all.heads)).faultCount, 0);
    const moved = await altered(t, await readRows(storage), (_, row) => row);
    await moved.transaction((tx) => tx.audit([buildEntry(threadId, 7)]));
    assert.deepEqual(await verify(moved).then(({ faults }) => faults), []);
  });

  test("a destination reads back how far it has the chains (contract/audit.24)", async (t) => {
    const { storage } = await filled(t);
    const put = (key: string, places: ReadonlyMap<number, number>): Promise<void> =>
      storage.transaction(async (tx) => tx.putForwardedAudit(key, places));
    const first = new Map([
      [0, 3],
      [1, 5],
    ]);
    await put("one", first);
    await put("other", new Map([[0, 1]]));
    assert.deepEqual(await storage.transaction(async (tx) => tx.forwardedAudit("one")), first);
    const later = new Map([
      [0, 4],
      [1, 5],
    ]);
    await put("one", later);
    assert.deepEqual(await storage.transaction(async (tx) => tx.forwardedAudit("one")), later);
    assert.deepEqual(await storage.transaction(async (tx) => tx.forwardedAudit("other")), new Map([[0, 1]]));
  });

  test("an entry that repeats the position of another does not keep its thread from deletion (contract/audit.20)", async (t) => {
    const { rows, threadId } = await filled(t);
    const storage = await altered(
      t,
      rows,
      entryAt(3, (row) => ({ ...row, position: 2 })),
    );
    await storage.transaction((tx) => tx.deleteThread(threadId));
    assert.deepEqual(await storage.transaction((tx) => tx.listAudit(threadId, { limit: 10, after: 0 })), []);
  });

  const CASES: readonly {
    readonly name: string;
    readonly change: (name: string, row: DumpRow) => DumpRow | null;
    readonly faults: readonly (readonly [fault: string, position: number, last: number, seq: number | null])[];
  }[] = [
    ...(["by", "action", "value", "interrupt_id", "via"] as const).map((column) => ({
      name: `another ${column}`,
      change: entryAt(3, (row) => ({ ...row, [column]: column === "value" ? '"other"' : "other" })),
      faults: [["changed", 3, 3, 3]] as const,
    })),
    {
      name: "another time, at the end",
      change: entryAt(5, (row) => ({ ...row, at: 77 })),
      faults: [["changed", 5, 5, 5]],
    },
    {
      name: "another author, with a digest that fits",
      change: entryAt(3, (row) => ({ ...row, by: "eve", digest: auditDigest({ ...entryFrom(row), by: "eve" }) })),
      faults: [["changed", 3, 3, 3]],
    },
    {
      name: "another author in the last entry, with a digest that fits",
      change: entryAt(5, (row) => ({ ...row, by: "eve", digest: auditDigest({ ...entryFrom(row), by: "eve" }) })),
      faults: [["changed", 5, 5, 5]],
    },
    {
      name: "a missing entry",
      change: entryAt(2, () => null),
      faults: [
        ["missing", 2, 2, null],
        ["gap", 2, 2, 2],
      ],
    },
    {
      name: "missing entries at the end",
      change: (name, row) => (name === "audit" && Number(row["position"]) > 3 ? null : row),
      faults: [["missing", 4, 5, null]],
    },
    {
      name: "all entries missing",
      change: (name, row) => (name === "audit" ? null : row),
      faults: [["missing", 1, 5, null]],
    },
    {
      name: "two entries in each other's places",
      change: (name, row) => {
        const position = Number(row["position"]);
        return name === "audit" && (position === 2 || position === 3) ? { ...row, position: 5 - position } : row;
      },
      faults: [
        ["changed", 1, 1, 1],
        ["changed", 2, 2, 3],
        ["changed", 3, 3, 2],
      ],
    },
    {
      name: "an entry of another chain",
      change: entryAt(3, (row) => ({ ...row, previous: "0".repeat(64) })),
      faults: [
        ["changed", 2, 2, 2],
        ["changed", 3, 3, 3],
      ],
    },
    {
      name: "a lower count than there are entries",
      change: (name, row) => (name === "audit_heads" ? { ...row, count: 4 } : row),
      faults: [
        ["changed", 4, 4, 4],
        ["added", 5, 5, 5],
      ],
    },
    {
      name: "an entry outside of the chains",
      change: entryAt(5, (row) => ({ ...row, chain: 0 })),
      faults: [
        ["added", 1, 1, null],
        ["missing", 5, 5, null],
      ],
    },
    {
      name: "a chain without its head",
      change: (name, row) => (name === "audit_heads" ? null : row),
      faults: [["added", 1, 5, null]],
    },
  ];
  for (const { name, change, faults } of CASES) {
    test(`a verification finds ${name} (contract/audit.21)`, async (t) => {
      const { rows, threadId, chain } = await filled(t);
      const report = await verify(await altered(t, rows, change));
      assert.deepEqual(
        report.faults,
        faults.map(([fault, position, last, seq]) => ({
          fault,
          chain: fault === "gap" || (fault === "added" && seq === null) ? NO_CHAIN : chain,
          position,
          last,
          seq,
          threadId: seq === null ? null : threadId,
        })),
      );
    });
  }

  test("an anchor finds a trail that was rewritten, cut or removed with its heads (contract/audit.22)", async (t) => {
    const { rows, storage, threadId, chain } = await filled(t);
    const { heads } = await verify(storage);
    let previous = "";
    const rewritten = await altered(t, rows, (name, row) => {
      if (name === "audit_heads") return { ...row, hash: previous };
      if (name !== "audit") return row;
      const { position, seq } = row;
      const digest = auditDigest({ ...entryFrom(row), by: "eve" });
      const other = { ...row, by: "eve", previous, digest };
      previous = auditHash(previous, { position: Number(position), seq: Number(seq), digest });
      return other;
    });
    assert.deepEqual((await verify(rewritten)).faults, []);
    assert.deepEqual((await verify(rewritten, heads)).faults, [
      { fault: "rewritten", chain, position: 5, last: 5, threadId, seq: 5 },
    ]);
    const none = await altered(t, rows, (name, row) => (name.startsWith("audit") ? null : row));
    const gone = [{ fault: "missing", chain, position: 1, last: 5, threadId: null, seq: null }];
    assert.deepEqual((await verify(none)).faults, []);
    assert.deepEqual((await verify(none, heads)).faults, gone);
  });

  test("acts stand in several trails, and go by age only (contract/audit.23)", async (t) => {
    const storage = await open(t);
    const write = (at: number): Promise<void> =>
      storage.transaction(async (tx) => {
        const keys = Array.from({ length: 40 }, (_, key) => `key ${key}`);
        await tx.audit(keys.map((subject) => buildAct({ name: "root" }, { action: "key_created", at, subject })));
      });
    await Promise.all([1, 2, 3].map(write));
    const list = async () =>
      (await Promise.all(ACT_TRAILS.map((trail) => storage.read((tx) => tx.listAudit(trail))))).flat();
    assert.equal((await list()).length, 120);
    assert.ok(new Set((await list()).map(({ threadId }) => threadId)).size > 8);
    for (const trail of ACT_TRAILS) await storage.transaction((tx) => tx.deleteAuditBefore(trail, 3));
    assert.ok((await list()).length < 60);
    assert.deepEqual((await verify(storage)).faults, []);
  });
}

const COUNTS = { entries: 0, deleted: 0, erased: 0, faults: [], faultCount: 0 };

function entryFrom(row: DumpRow): AuditEntry {
  const at = Number(row["at"]);
  return { ...buildEntry(String(row["thread_id"]), at), by: String(row["by"]) };
}
