// Many paused threads: multiplies the one paused thread of a stopped server's database, row by row, with new ids.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createIdSource } from "../src/base/ids.ts";

const THREAD_TABLES = ["threads", "runs", "interrupts", "audit", "checkpoints", "heads", "writes", "blobs"] as const;

export function multiplyPausedThread(folder: string, count: number): void {
  const db = new DatabaseSync(join(folder, "holdpoint.db"));
  const newId = createIdSource(Date.now);
  const source = db.prepare("SELECT thread_id FROM threads WHERE status = 'interrupted' LIMIT 1").get()?.["thread_id"];
  if (typeof source !== "string") throw new Error("no paused thread to multiply");
  const inserts = THREAD_TABLES.map((table) => {
    const columns = db
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map((row) => String(row["name"]));
    // A run's id is its key: each copy of a run gets a new one.
    const values = columns.map((column) =>
      column === "thread_id" ? ":copy" : table === "runs" && column === "run_id" ? ":run" : column,
    );
    const sql = `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${table} WHERE thread_id = :source`;
    return { named: table === "runs" ? ["copy", "run", "source"] : ["copy", "source"], statement: db.prepare(sql) };
  });
  db.exec("BEGIN");
  for (let at = 0; at < count; at++) {
    const ids: Record<string, string> = { copy: newId(), run: newId(), source };
    for (const { named, statement } of inserts) {
      statement.run(Object.fromEntries(named.map((name) => [name, ids[name] ?? ""])));
    }
  }
  db.exec("COMMIT");
  db.close();
}
