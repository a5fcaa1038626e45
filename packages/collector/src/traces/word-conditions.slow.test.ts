// Tests of word-conditions.1 and 2: words of all, of many and of few traces, on 1,500 traces written by SQL.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { openDatabase, type Database } from "./database.ts";
import { buildWordConditions } from "./word-conditions.ts";

const log = createLog({ level: "error", json: true, secrets: [], now: () => 0, write: () => undefined });
const folder = mkdtempSync(join(tmpdir(), "holdpoint-words-"));
const TRACES = 1500;
let db: Database;

/** Words of trace `n`; the larger, the newer. */
const listWords = (n: number): readonly string[] => [
  "order",
  "border",
  ...(n % 2 === 0 ? ["even"] : ["x"]),
  ...(n % 100 === 7 ? ["seldom"] : []),
  ...(n >= TRACES - 30 ? ["lately"] : []),
  ...(n % 3 === 0 ? ["müller"] : []),
];

before(() => {
  db = openDatabase(folder, systemClock, log);
  const columns =
    "project, name, status, started, runs, errors, input_tokens, output_tokens, bytes, touched, received_at";
  const trace = `INSERT INTO traces (trace_id, ${columns}) VALUES (?, '', '', 'success', ?, 1, 0, 0, 0, 0, 0, 0)`;
  db.transaction(() => {
    for (let n = 0; n < TRACES; n++) {
      const text = listWords(n).join(" ");
      db.run(trace, `t${n}`, n);
      db.run("INSERT INTO words (doc, trace_id, words) VALUES (?, ?, ?)", n + 1, `t${n}`, text);
      db.run("INSERT INTO words_index (rowid, words) VALUES (?, ?)", n + 1, text);
    }
  });
});

after(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

const isFound = (word: string, n: number): boolean =>
  listWords(n).some((own) => (word.length > 1 ? own.startsWith(word) : own === word));

/** Beside each query, the ways that its words are looked up. */
const QUERIES: readonly (readonly [words: readonly string[], ways: readonly ("row" | "index" | "list")[]])[] = [
  [["ord"], ["row"]],
  [["rder"], ["list"]],
  [["ev"], ["index"]],
  [["x"], ["index"]],
  [["seld"], ["list"]],
  [["lately"], ["list"]],
  [
    ["order", "seldom"],
    ["row", "list"],
  ],
  [["even", "mü"], ["list"]],
  [
    ["order", "border", "nothing"],
    ["row", "row", "list"],
  ],
];

const LIMIT = 50;
for (const [words, ways] of QUERIES)
  test(`"${words.join(" ")}" is looked up by ${ways.join(", ")}, and finds its traces`, () => {
    for (const end of [TRACES, 900]) {
      const cursor = end === TRACES ? null : { started: end, traceId: "" };
      const conditions = buildWordConditions(db, { words, cursor, limit: LIMIT });
      const used = conditions.map(({ sql }) => (!sql.includes("MATCH") ? "row" : sql.startsWith("trace_id IN") ? "list" : "index")); // prettier-ignore
      if (cursor === null) assert.deepEqual(used, ways);
      const where = conditions.map(({ sql }) => sql).join(" AND ");
      const values = conditions.flatMap((one) => one.values);
      const rows = db.all(`SELECT started FROM traces WHERE ${where} AND started < ?`, ...values, end);
      const expected = Array.from({ length: end }, (_, n) => n).filter((n) => words.every((word) => isFound(word, n)));
      assert.deepEqual(
        rows.map(({ started }) => Number(started)).toSorted((one, other) => one - other),
        expected,
      );
    }
  });
