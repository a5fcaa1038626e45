// Questions of a schema without priority, for the tests of its migration on both storages.

/** Steps of the schema before priority. */
export const BEFORE_PRIORITY = 6;

const OLD: readonly (readonly [thread: string, graph: string, metadata: string, after: number])[] = [
  ["urgent", "holdpoint-request", '"urgent"', 0],
  ["high", "holdpoint-request", '"high"', 1],
  ["normal", "holdpoint-request", '"normal"', 2],
  ["low", "holdpoint-request", '"low"', 3],
  ["other", "holdpoint-request", "7", 2],
  ["graph", "shop", '"urgent"', 2], // a member of the thread's metadata, which says nothing about its questions
];

export const PRIORITIES_AFTER = Object.fromEntries(OLD.map(([thread, , , after]) => [thread, after]));

const COLUMNS =
  `interrupt_id library_id task_id graph_ns checkpoint_id root_checkpoint_id idx ns position state created_at
  run_id assistant_id node kind value`.split(/\s+/);

/** @param schema before each table's name */
export function writeOldQuestions(schema: string): string {
  const metadata = OLD.map(([thread, , value]) => `('${thread}', 'priority', '${value}', 1)`);
  const questions = OLD.map(([thread, graph]) => `('${thread}', '${graph}', ${COLUMNS.map(() => "'1'").join()})`);
  return `INSERT INTO ${schema}thread_metadata (thread_id, key, value, created_at) VALUES ${metadata.join()};
    INSERT INTO ${schema}interrupts (thread_id, graph_id, ${COLUMNS.join()}) VALUES ${questions.join()}`;
}
