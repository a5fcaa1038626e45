// Many rows: multiplies the rows of one finished and one paused thread in a database, table by table, with new ids.
import { Client } from "pg";

const TABLES = "threads thread_metadata runs checkpoints heads writes blobs interrupts inbox_metadata audit".split(" ");
const RUNS_A_THREAD = 2;

/** @param uri of a database with one thread of each kind, and no server */
export async function fillDatabase(
  uri: string,
  { finishedRuns, pausedThreads }: { readonly finishedRuns: number; readonly pausedThreads: number },
): Promise<void> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    await client.query("SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '512MB'");
    const finishedThreads = Math.ceil(finishedRuns / RUNS_A_THREAD);
    await multiply(client, "idle", 1, finishedThreads);
    await multiply(client, "interrupted", finishedThreads + 1, pausedThreads);
    await client.query("VACUUM ANALYZE");
  } finally {
    await client.end();
  }
}

/** @param first number of the first copy: ids of the same millisecond differ by the number only */
async function multiply(client: Client, status: string, first: number, count: number): Promise<void> {
  const { rows } = await client.query<{ readonly id: string }>(
    "SELECT thread_id AS id FROM holdpoint.threads WHERE status = $1 LIMIT 1",
    [status],
  );
  const source = rows[0]?.id;
  if (source === undefined) throw new Error(`no thread that is ${status}`);
  for (const table of TABLES) {
    const { rows: columns } = await client.query<{ readonly name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = 'holdpoint' AND table_name = $1 AND is_generated = 'NEVER'`,
      [table],
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) => {
      if (name === "thread_id") return changeCopy("thread_id");
      return name === "run_id" && table === "runs" ? changeCopy("run_id") : name;
    });
    await client.query(
      `INSERT INTO holdpoint.${table} (${names.join(", ")})
       SELECT ${values.join(", ")} FROM generate_series(${first}, ${first + count - 1}) AS n CROSS JOIN holdpoint.${table} WHERE thread_id = $1
       ON CONFLICT DO NOTHING`, // one of the copies may have the number of the original
      [source],
    );
  }
}

/** An id of the same time as the first, and of the copy's number: ids that are made later come behind it. */
function changeCopy(column: string): string {
  return `substr(${column}, 1, 24) || lpad(to_hex(n), 6, '0') || substr(${column}, 31)`;
}
