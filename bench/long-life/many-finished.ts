// Many finished threads: copies of the newest finished thread of a stopped server, table by table, with new ids. Without
// the audit trail: its entries form one chain.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createIdSource } from "@holdpoint/base/ids.ts";

const TABLES = "threads runs interrupts checkpoints heads writes blobs thread_metadata inbox_metadata".split(" ");
/** Threads of one transaction, so that the log stays small. */
const BATCH = 20_000;

/** @param threadColumns SQL for columns of `threads`, by name */
export function multiplyFinishedThread(
  folder: string,
  count: number,
  threadColumns: Readonly<Record<string, string>> = {},
): void {
  const db = new DatabaseSync(join(folder, "holdpoint.db"));
  db.exec("PRAGMA cache_size = -200000; PRAGMA synchronous = OFF"); // a crash may lose it
  db.exec("CREATE TEMP TABLE copies (n INTEGER PRIMARY KEY, copy TEXT NOT NULL)");
  db.exec("CREATE TEMP TABLE run_copies (n INTEGER, old TEXT, run TEXT, PRIMARY KEY (old, n)) WITHOUT ROWID");
  const newId = createIdSource(Date.now);
  const source = db
    .prepare("SELECT thread_id FROM threads WHERE status = 'idle' ORDER BY thread_id DESC LIMIT 1")
    .get();
  const sourceId = String(source?.["thread_id"]);
  const runs = db.prepare("SELECT run_id FROM runs WHERE thread_id = ? ORDER BY run_id").all(sourceId);
  const copy = db.prepare("INSERT INTO copies VALUES (?, ?)");
  const copyRun = db.prepare("INSERT INTO run_copies VALUES (?, ?, ?)");
  for (let first = 0; first < count; first += BATCH) {
    db.exec("BEGIN; DELETE FROM copies; DELETE FROM run_copies");
    for (let n = first; n < Math.min(count, first + BATCH); n++) {
      copy.run(n, newId());
      for (const { run_id: run } of runs) copyRun.run(n, String(run), newId());
    }
    for (const table of TABLES) copyRows(db, table, sourceId, table === "threads" ? threadColumns : {});
    db.exec("COMMIT");
  }
  db.close();
}

/** A run keeps its id in other tables, where nothing looks for it by id. */
function copyRows(db: DatabaseSync, table: string, sourceId: string, columns: Readonly<Record<string, string>>): void {
  const names = db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name));
  const newRun = "(SELECT run FROM run_copies AS r WHERE r.old = run_id AND r.n = copies.n)";
  const values = names.map((name) => {
    if (name === "thread_id") return "copy";
    return table === "runs" && name === "run_id" ? newRun : (columns[name] ?? name);
  });
  const from = `copies CROSS JOIN ${table} WHERE thread_id = ?`;
  db.prepare(`INSERT INTO ${table} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${from}`).run(sourceId);
}
