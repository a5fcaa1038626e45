// Contract of deadlines as an order and a filter of the inbox, and of its facets; one part of storage.contract.ts.
// Rules:
//   contract/inbox-counts.1. In the order of deadlines, items without one come last; pages have no gap, with any filter.
//   contract/inbox-counts.2. A deadline filter selects by the time left.
//   contract/inbox-counts.3. A tally groups by graph, assistant, node, kind, holder of the claim, follow-up date and time
//        left; its numbers add up to the count, over any number of parts.
//   contract/inbox-counts.4. A tally of metadata has the texts, numbers, booleans and nulls of matching items.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interrupt, Thread } from "../../model/model.ts";
import type { InboxQuery, InboxTally, Storage } from "../../ports/ports.ts";
import { EVERYTHING, countTotals } from "./inbox.contract.ts";
import type { OpenStorage } from "./open-storage.ts";

interface Makers {
  readonly newThread: (changes?: Partial<Thread>) => Thread;
  readonly newInterrupt: (threadId: string, interruptId: string, changes?: Partial<Interrupt>) => Interrupt;
}

const HOUR = 3_600_000;
const NOW = 1_800_000_000_000;
const MANY = 4500;

export function inboxCountCases(
  open: OpenStorage,
  { newThread, newInterrupt, isSealed }: Makers & { readonly isSealed: boolean },
): void {
  const put = async (
    storage: Storage,
    items: readonly (readonly [id: string, changes: Partial<Interrupt>])[],
    metadata: Thread["metadata"] = {},
  ): Promise<Thread> => {
    const thread = newThread({ status: "interrupted", pause: "question", metadata });
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.putInterrupts(items.map(([id, changes]) => newInterrupt(thread.threadId, id, changes)));
    });
    return thread;
  };

  test("items follow their deadlines, and those without one come last (contract/inbox-counts.1)", async (t) => {
    const storage = await open(t);
    await put(
      storage,
      [
        ["a", { expiresAt: 30 }],
        ["b", { expiresAt: 10, createdAt: 9, kind: "form" }],
        ["c", { expiresAt: null, createdAt: 2 }],
        ["d", { expiresAt: 10, createdAt: 3 }],
        ["e", { expiresAt: null, createdAt: 1, kind: "form" }],
        ["f", { expiresAt: 5, state: "answered" }],
      ],
      { team: "x", tags: ["t"] },
    );
    const expected: readonly (readonly [Partial<InboxQuery>, string])[] = [
      [{}, "dbaec"],
      [{ kind: "form" }, "be"],
      [{ metadata: { team: "x" } }, "dbaec"],
      [{ metadata: { tags: ["t"] } }, "dbaec"],
      [{ deadline: "none" }, "ec"],
      [{ deadline: "overdue", now: 10 }, "db"],
    ];
    for (const [query, ids] of expected) {
      for (const limit of [1, 2, 10]) {
        assert.equal(
          await readAll(storage, { ...query, order: "deadline", limit }),
          ids,
          JSON.stringify([query, limit]),
        );
      }
    }
    const small = await storage.read((tx) => tx.inbox({ ...EVERYTHING, order: "deadline", bytesMax: 1 }));
    assert.deepEqual([small.rows.length, small.more], [1, true]);
  });

  test("items follow their priorities, then their ages (contract/inbox-counts.4)", async (t) => {
    const storage = await open(t);
    await put(
      storage,
      [
        ["a", { priority: 2, createdAt: 1 }],
        ["b", { priority: 0, createdAt: 9, kind: "form" }],
        ["c", { priority: 3, createdAt: 0 }],
        ["d", { priority: 0, createdAt: 3 }],
        ["e", { priority: 1, createdAt: 2, kind: "form" }],
        ["f", { priority: 0, state: "answered" }],
      ],
      { team: "x" },
    );
    for (const [query, ids] of [
      [{}, "dbeac"],
      [{ kind: "form" }, "be"],
      [{ metadata: { team: "x" } }, "dbeac"],
      [{ search: [] }, "dbeac"],
    ] as readonly (readonly [Partial<InboxQuery>, string])[]) {
      for (const limit of [1, 2, 10]) {
        assert.equal(
          await readAll(storage, { ...query, order: "priority", limit }),
          ids,
          JSON.stringify([query, limit]),
        );
      }
    }
  });

  test("a deadline filter and a tally go by the time left (contract/inbox-counts.2, contract/inbox-counts.3)", async (t) => {
    const storage = await open(t);
    const left: readonly (readonly [string, number | null, InboxTally["deadline"]])[] = [
      ["a", 0, "overdue"],
      ["b", 1, "hour"],
      ["c", HOUR, "hour"],
      ["d", HOUR + 1, "day"],
      ["e", 24 * HOUR + 1, "week"],
      ["f", 168 * HOUR, "week"],
      ["g", 168 * HOUR + 1, "later"],
      ["h", null, "none"],
    ];
    await put(
      storage,
      left.map(([id, ms], at) => [id, { expiresAt: ms === null ? null : NOW + ms, createdAt: at }] as const),
    );
    for (const bucket of new Set(left.map(([, , one]) => one))) {
      const wanted = left.filter(([, , one]) => one === bucket).map(([id]) => id);
      const query = { deadline: bucket, now: NOW };
      const { rows } = await storage.read((tx) => tx.inbox({ ...EVERYTHING, ...query }));
      assert.deepEqual(
        rows.map(({ interrupt }) => interrupt.interruptId),
        wanted,
      );
      const { count, tallies } = await countTotals(storage, query);
      assert.equal(count, wanted.length);
      for (const { deadline } of tallies) assert.equal(deadline, bucket);
    }
  });

  test("a tally has claims in force and follow-up dates in the future (contract/inbox-counts.3)", async (t) => {
    const storage = await open(t);
    const claim = (by: string, until: number | null) => ({ claim: { by, at: 1, until } });
    const { threadId } = await put(
      storage,
      [
        ["a", { ...claim("ann", null), kind: "form", graphId: "g", assistantId: "s", node: "n" }],
        ["b", claim("bob", NOW + 1)],
        ["c", { ...claim("bob", NOW), snoozedUntil: NOW + 1 }],
        ["d", { snoozedUntil: NOW }],
      ],
      { team: "x" },
    );
    await put(storage, [["e", claim("eve", null)]], { team: "y" });
    const { tallies } = await countTotals(storage, { now: NOW, scope: [{ key: "team", op: "eq", value: "x" }] });
    const seen = tallies.map(({ kind, claimedBy, snoozed, count }) => [kind, claimedBy, snoozed, count]);
    assert.deepEqual(
      seen.toSorted((one, other) => (String(one) < String(other) ? -1 : 1)),
      [
        ["form", "ann", false, 1],
        ["question", null, false, 1],
        ["question", null, true, 1],
        ["question", "bob", false, 1],
      ],
    );
    const own = tallies.find(({ claimedBy }) => claimedBy === "ann");
    assert.deepEqual([own?.graphId, own?.assistantId, own?.node], ["g", "s", "n"]);
    await storage.transaction((tx) => tx.deleteThread(threadId));
    assert.deepEqual((await countTotals(storage, { now: NOW })).count, 1);
  });

  test("a tally of metadata counts its members, within scope and filters (contract/inbox-counts.4)", async (t) => {
    const storage = await open(t);
    await put(
      storage,
      [
        ["a", {}],
        ["b", { kind: "form" }],
      ],
      { team: "x", tier: 7, tags: ["t"] },
    );
    await put(storage, [["c", {}]], { team: "x", tier: 8 });
    await put(storage, [["d", {}]], { team: "y" });
    const members = async (query: Partial<InboxQuery>): Promise<readonly string[]> => {
      const { found } = await storage.read(async (tx) => tx.tallyMetadata({ ...EVERYTHING, ...query }));
      return found.map(({ key, text, count }) => `${key}=${text} ${count}`).toSorted();
    };
    assert.deepEqual(await members({}), ['team="x" 3', 'team="y" 1', "tier=7 2", "tier=8 1"]);
    assert.deepEqual(await members({ kind: "form" }), ['team="x" 1', "tier=7 1"]);
    assert.deepEqual(await members({ metadata: { tier: 8 } }), ['team="x" 1', "tier=8 1"]);
    assert.deepEqual(await members({ scope: [{ key: "team", op: "eq", value: "y" }] }), ['team="y" 1']);
  });

  test(
    "a count of many items is exact, in parts of any index (contract/inbox-counts.3)",
    { skip: isSealed },
    async (t) => {
      const storage = await open(t);
      const ids = Array.from({ length: MANY }, (_, at) => String(at).padStart(6, "0"));
      await put(
        storage,
        ids.map((id, at) => [id, { createdAt: Math.floor(at / 7), kind: at % 2 === 0 ? "form" : "question" }] as const),
        { team: "x" },
      );
      const rows: readonly (readonly [Partial<InboxQuery>, number])[] = [
        [{}, MANY],
        [{ kind: "form" }, MANY / 2],
        [{ metadata: { team: "x" } }, MANY],
        [{ metadata: { team: "x" }, kind: "question", createdBefore: 2 }, 7],
        [{ scope: [{ key: "team", op: "in", value: ["x"] }], node: "none" }, 0],
      ];
      for (const [query, expected] of rows) {
        const { count, tallies } = await countTotals(storage, query);
        assert.equal(count, expected, JSON.stringify(query));
        assert.equal(
          tallies.reduce((sum, tally) => sum + tally.count, 0),
          expected,
        );
      }
    },
  );
}

/** Page by page. */
async function readAll(storage: Storage, query: Partial<InboxQuery>): Promise<string> {
  let seen = "";
  let after: InboxQuery["after"] = null;
  for (;;) {
    const page: InboxQuery = { ...EVERYTHING, ...query, after };
    const { rows, more } = await storage.read((tx) => tx.inbox(page));
    seen += rows.map(({ interrupt }) => interrupt.interruptId).join("");
    after = rows.at(-1)?.interrupt ?? after;
    if (!more) return seen;
  }
}
