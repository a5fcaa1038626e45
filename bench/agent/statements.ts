// Statements: calls of the database per cycle, by kind, with the commits and the bytes of the write-ahead log. Of a
// server of its own, because counting costs time.
import { join } from "node:path";
import { runScript } from "../measure.ts";
import type { SqlCounts } from "./count-sql.ts";
import { removeFolder, startServer } from "./server.ts";
import type { Note } from "../table.ts";

const ASKED_STATEMENTS = 40;
/** A kind below this share of a cycle is not listed: work of timers. */
const LISTED_MIN = 0.05;

export async function measureStatements(note: Note, cycles: number, warmUp: number): Promise<void> {
  const server = await startServer(undefined, {}, { countSql: true });
  const load = (count: number) =>
    runScript(join(import.meta.dirname, "client.ts"), [server.url, count, 32, 1000, "bench", "cycle"]);
  await load(warmUp);
  const before = await server.counts();
  await load(cycles);
  const after = await server.counts();
  await server.stop();
  removeFolder(server.folder);

  const kinds = perCycle(before, after, cycles);
  const total = [...kinds.values()].reduce((sum, count) => sum + count, 0);
  const commits = (after.commits - before.commits) / cycles;
  note({
    what: "statements a cycle, 32 clients",
    measured: `${total.toFixed(1)}, in ${commits.toFixed(2)} commits`,
    ratio: total / ASKED_STATEMENTS,
    asked: `at most ${ASKED_STATEMENTS}`,
    limit: 1,
  });
  const bytes = (after.walBytes - before.walBytes) / cycles;
  note({
    what: "bytes of the write-ahead log a cycle",
    measured: `${(bytes / 1000).toFixed(1)} KB`,
    ratio: bytes / ASKED_WAL_BYTES,
    asked: `at most ${ASKED_WAL_BYTES / 1000} KB`,
    limit: 1,
  });
  for (const [kind, count] of kinds) {
    if (count >= LISTED_MIN) console.log(`  ${count.toFixed(2).padStart(6)}  ${kind}`);
  }
}

/** Share of a cycle that one client spends in commits. With many clients, a commit serves several of them. */
export async function measureFlushes(note: Note, cycles: number): Promise<void> {
  const server = await startServer(undefined, {}, { countSql: true });
  const load = (count: number, clients: number) =>
    runScript(join(import.meta.dirname, "client.ts"), [server.url, count, clients, 1000, "bench", "cycle"]);
  await load(10 * cycles, 32);
  const before = await server.counts();
  const { medianMs = Number.NaN } = await load(cycles, 1);
  const after = await server.counts();
  await server.stop();
  removeFolder(server.folder);
  const commits = (after.commits - before.commits) / cycles;
  const flushMs = (after.commitMs - before.commitMs) / cycles;
  note({
    what: "time in commits of a cycle, 1 client",
    measured: `${commits.toFixed(1)} commits, ${flushMs.toFixed(2)} of ${medianMs.toFixed(2)} ms`,
    ratio: flushMs / medianMs,
    asked: "shown only",
    limit: 1,
  });
}

/** Half of the bytes before the rows of a run were kept. */
const ASKED_WAL_BYTES = 54_000;

function perCycle(before: SqlCounts, after: SqlCounts, cycles: number): ReadonlyMap<string, number> {
  const kinds = new Map<string, number>();
  for (const [sql, count] of Object.entries(after.statements)) {
    const kind = classifyStatement(sql);
    kinds.set(kind, (kinds.get(kind) ?? 0) + (count - (before.statements[sql] ?? 0)) / cycles);
  }
  return new Map([...kinds].toSorted(([, left], [, right]) => right - left));
}

/** Verb and table. */
function classifyStatement(sql: string): string {
  const text = sql.trim();
  const verb = /^\w+/.exec(text)?.[0] ?? "";
  const table = /\b(?:FROM|INTO|UPDATE) (\w+)/.exec(text)?.[1];
  return table === undefined ? verb : `${verb} ${table}`;
}
