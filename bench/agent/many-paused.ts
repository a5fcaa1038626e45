// Many paused threads: multiplies the one paused thread of a stopped server's database, table by table, with new ids.
// Copy n says of itself `{customer: n, team: n mod 10}`, so that lists can be asked for one, or for a tenth of them.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createIdSource } from "@holdpoint/base/ids.ts";

const THREAD_TABLES =
  "threads runs interrupts audit checkpoints heads writes blobs thread_metadata inbox_metadata".split(" ");
export const TEAMS = 10;

export function multiplyPausedThread(folder: string, count: number): void {
  const db = new DatabaseSync(join(folder, "holdpoint.db"));
  db.exec("PRAGMA cache_size = -200000; PRAGMA synchronous = OFF"); // it may be lost; it may not take all day
  const newId = createIdSource(Date.now);
  const source = db.prepare("SELECT thread_id FROM threads WHERE status = 'interrupted' LIMIT 1").get()?.["thread_id"];
  if (typeof source !== "string") throw new Error("no paused thread to multiply");
  db.exec("BEGIN; CREATE TEMP TABLE copies (n INTEGER PRIMARY KEY, copy TEXT NOT NULL, run TEXT NOT NULL)");
  const copy = db.prepare("INSERT INTO copies VALUES (?, ?, ?)");
  for (let n = 0; n < count; n++) copy.run(n, newId(), newId());
  for (const table of THREAD_TABLES) {
    const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const values = columns.map(({ name }) => {
      if (name === "thread_id") return "copy";
      if (table === "runs" && name === "run_id") return "run"; // a run's id is its key: each copy of a run gets a new one
      return table === "threads" && name === "metadata" ? `json_patch(metadata, ${DESCRIPTION})` : String(name);
    });
    const into = `${table} (${columns.map(({ name }) => String(name)).join(", ")})`;
    const sql = `INSERT INTO ${into} SELECT ${values.join(", ")} FROM copies CROSS JOIN ${table} WHERE thread_id = ?`;
    db.prepare(sql).run(source);
  }
  for (const [table, from, id] of [
    ["thread_metadata", "threads", ""],
    ["inbox_metadata", "interrupts", ", interrupt_id"],
  ]) {
    db.exec(`INSERT INTO ${table} (thread_id${id}, created_at, key, value)
      SELECT copy${id}, created_at, j.key, j.value FROM copies
      CROSS JOIN ${from} ON thread_id = copy CROSS JOIN json_each(${DESCRIPTION}) AS j`);
  }
  db.exec("COMMIT");
  db.close();
}

const DESCRIPTION = `json_object('customer', n, 'team', n % ${TEAMS})`;
