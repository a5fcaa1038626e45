// Contract of the search of the audit trail, one part of storage.contract.ts.
// Rule contract/audit-search.1: a search has the entries of all threads that match every filter, newest first, with their
// item and run. A page reads a limited number of entries, and the next one continues there.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry, Interrupt, Run, Thread } from "../../model/model.ts";
import type { AuditQuery } from "../../ports/ports.ts";
import type { OpenStorage } from "./open-storage.ts";

interface Makers {
  readonly newThread: (changes?: Partial<Thread>) => Thread;
  readonly newRun: (threadId: string, changes?: Partial<Run>) => Run;
  readonly newInterrupt: (threadId: string, interruptId: string, changes?: Partial<Interrupt>) => Interrupt;
}

export const ALL: AuditQuery = {
  scope: null,
  threadId: null,
  graphId: null,
  assistantId: null,
  actions: [],
  by: null,
  via: null,
  since: null,
  until: null,
  search: [],
  after: null,
  limit: 10,
  scanMax: 100,
};

const said = { action: "answered", by: "bob", interruptId: "q", runId: null, value: { note: "fine" } } as const;

export function auditSearchCases(open: OpenStorage, { newThread, newRun, newInterrupt }: Makers): void {
  test("a search finds entries of all threads by each filter, in pages (contract/audit-search.1)", async (t) => {
    const storage = await open(t);
    const gold = newThread({ metadata: { tier: "gold", tags: ["a"] } });
    const tin = newThread({ metadata: { tier: "tin" } });
    const run = newRun(gold.threadId, { status: "success", endedBy: "done" });
    const question = newInterrupt(gold.threadId, "q", { value: "Refund 4711?", graphId: "shop", assistantId: "a1" });
    const ofGold = (at: number, changes: Partial<AuditEntry> = {}): AuditEntry => ({
      ...said,
      threadId: gold.threadId,
      at,
      ...changes,
    });
    const byAnn = ofGold(4, { by: "Ann", via: "inbox", runId: run.runId });
    await storage.transaction(async (tx) => {
      await tx.insertThread(gold);
      await tx.insertThread(tin);
      await tx.insertRun(run);
      await tx.putInterrupts([question]);
      await tx.audit([ofGold(1), byAnn, ofGold(8)]);
      await tx.audit([
        { ...said, threadId: tin.threadId, at: 5, action: "expired", interruptId: null, value: "50% off_" },
      ]);
    });
    const search = (query: Partial<AuditQuery> = {}) =>
      storage.read(async (tx) => tx.searchAudit({ ...ALL, ...query }));
    const times = async (query: Partial<AuditQuery>) => (await search(query)).rows.map(({ entry }) => entry.at);
    const { rows, next } = await search();
    assert.deepEqual(
      rows.map(({ entry }) => entry.at),
      [8, 5, 4, 1],
    );
    assert.equal(next, null);
    assert.equal(rows[1]?.item, null);
    const { graphId, assistantId, node, kind, createdAt, value, responseSchema } = question;
    assert.deepEqual(rows[2], {
      entry: { ...byAnn, seq: 2 },
      item: { graphId, assistantId, node, kind, createdAt, value, responseSchema, isLong: false },
      run: { status: "success", endedBy: "done" },
    });
    const filters: readonly (readonly [Partial<AuditQuery>, readonly number[]])[] = [
      [{ threadId: tin.threadId }, [5]],
      [{ actions: ["expired", "claimed"] }, [5]],
      [{ by: "Ann" }, [4]],
      [{ via: "inbox" }, [4]],
      [{ graphId: "shop" }, [8, 4, 1]],
      [{ assistantId: "a1", since: 4, until: 8 }, [4]],
      [{ scope: [{ key: "tier", op: "eq", value: "gold" }] }, [8, 4, 1]],
      [{ scope: [{ key: "tags", op: "eq", value: ["a"] }] }, [8, 4, 1]],
      [{ scope: [{ key: "tier", op: "in", value: ["tin", "lead"] }] }, [5]],
    ];
    for (const [query, expected] of filters) assert.deepEqual(await times(query), expected, JSON.stringify(query));

    const seen: number[] = [];
    let after: AuditQuery["after"] = null;
    do {
      const page = await search({ after, limit: 1, scanMax: 2, actions: ["answered"] });
      seen.push(...page.rows.map(({ entry }) => entry.at));
      after = page.next;
    } while (after !== null);
    assert.deepEqual(seen, [8, 4, 1]);
  });
}
