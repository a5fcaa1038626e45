import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../client/database.ts";
import { fewest, type Candidate } from "./metadata-index.ts";

/** A database with so many entries of each value, and the probes that it has answered. */
function counting(entries: Record<string, number>) {
  const probes: string[] = [];
  const get = (_sql: string, value: string) => {
    probes.push(value);
    return { n: Math.min(1000, entries[value] ?? 0) };
  };
  const candidates = Object.keys(entries).map((what): Candidate<string> => ({
    what,
    probe: ["SELECT 1 FROM thread_metadata WHERE value = ?", what],
  }));
  const db = { get } as unknown as Database;
  return { db, candidates, probes, choose: () => fewest(db, candidates) };
}

test("the candidate with the fewest entries is read, the first of equals", () => {
  assert.equal(counting({ many: 5000, few: 3, some: 40 }).choose(), "few");
  assert.equal(counting({ many: 5000, more: 9000 }).choose(), "many");
  assert.equal(counting({ one: 2, other: 2 }).choose(), "one");
});

test("a value with many entries is counted at every seventeenth search, others each time", () => {
  const { db, candidates, probes } = counting({ many: 5000, few: 3 });
  for (let search = 0; search < 34; search++) assert.equal(fewest(db, candidates), "few");
  assert.equal(probes.filter((value) => value === "many").length, 2);
  assert.equal(probes.filter((value) => value === "few").length, 34);
});

test("a value that had many entries and has few is found out", () => {
  const entries = { many: 5000, shrunk: 6000 };
  const { db, candidates } = counting(entries);
  assert.equal(fewest(db, candidates), "many");
  entries.shrunk = 2;
  const chosen = Array.from({ length: 18 }, () => fewest(db, candidates));
  assert.equal(chosen.at(-1), "shrunk");
});
