// Sequence numbers of events, on a file: random appends, undone writes, raises and restarts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import * as fc from "fast-check";
import { openDatabase, type Database } from "./client/database.ts";
import { MIGRATIONS } from "./schema/migrate.ts";
import { type EventSeqs, createEventSeqs } from "./tables/events.ts";

type Step = { readonly does: "append" | "undo"; readonly rows: number } | { readonly does: "restart" | "raise" };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constantFrom("append" as const, "undo" as const), rows: fc.constantFrom(1, 3, 1100) }),
  fc.record({ does: fc.constantFrom("restart" as const, "raise" as const) }),
);

test("numbers rise, and none is reused after an undone write or a restart (event-seqs.1, event-seqs.2)", (t) => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 12 }), (steps) => {
      let file = openFile(t);
      let newest = 0;
      for (const step of steps) {
        if (step.does === "restart") file = file.reopen();
        if (step.does === "raise") file.seqs.raise(newest + 10);
        if (step.does !== "append" && step.does !== "undo") continue;
        file.db.exec("BEGIN IMMEDIATE");
        const claimedSeqs = Array.from({ length: step.rows }, () => file.seqs.take());
        for (const [index, seq] of claimedSeqs.entries()) assert.ok(seq > (claimedSeqs[index - 1] ?? newest), `${seq}`);
        insert(file.db, claimedSeqs);
        file.db.exec(step.does === "append" ? "COMMIT" : "ROLLBACK");
        if (step.does === "append") newest = claimedSeqs.at(-1) ?? newest;
        else file.db.kept.dropAll(); // as the storage does after an undone write
        if (step.does === "append") file.db.exec("DELETE FROM events"); // the newest row expires
      }
      file.db.close();
    }),
    { numRuns: 40 },
  );
});

test("the counter is written once for many events", (t) => {
  const { db, seqs } = openFile(t);
  const counter = (): unknown => db.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.["seq"];
  insert(db, [seqs.take()]);
  const reserved = counter();
  for (let commits = 0; commits < 20; commits++) insert(db, [seqs.take(), seqs.take()]);
  assert.equal(counter(), reserved);
  assert.equal(db.get("SELECT max(seq) AS seq FROM events")?.["seq"], 41);
  db.close();
});

interface OpenFile {
  readonly db: Database;
  readonly seqs: EventSeqs;
  readonly reopen: () => OpenFile;
}

function openFile(t: TestContext): OpenFile {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-seqs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const open = (): OpenFile => {
    const db = openDatabase(join(folder, "holdpoint.db"));
    return { db, seqs: createEventSeqs(db), reopen: () => (db.close(), open()) };
  };
  const file = open();
  file.db.exec("PRAGMA synchronous = OFF");
  for (const step of MIGRATIONS) file.db.exec(step);
  return file;
}

function insert(db: Database, seqs: readonly number[]): void {
  const sql =
    "INSERT INTO events (seq, thread_id, run_id, first, last, lines, stored_at) VALUES (?, 't', 'r', 0, 0, '', 0)";
  for (const seq of seqs) db.run(sql, seq);
}
