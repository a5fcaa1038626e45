// PostgreSQL refuses every few commits of checkpoints with a serialization failure, as it does when transactions of
// other clients conflict. The storage repeats them, while later ones of the same run wait for the lock of the thread.
//   machines-refused-commits.1. The checkpoints of a thread are those of a run without refusals, in the same order.
//   machines-refused-commits.2. Each answer reaches its node once, and the next run begins at the newest checkpoint.
//   machines-refused-commits.3. The events of a run are read in the order of the graph, none left out.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "pg";
import { FULL, questionsIn } from "../harness/faults/fault-server.ts";
import { IS_LONG } from "../harness/long.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { call, ROOT, temporaryFolder } from "../harness/server.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";

const THREADS = FULL ? 200 : IS_LONG ? 12 : 4;

/**
 * The check runs at a statement, or at the commit, after all statements have succeeded. It refuses every third
 * transaction with checkpoints. One thread has few at a time, so that none is refused as often as the storage repeats
 * it.
 */
const REFUSAL = `
  CREATE SEQUENCE public.commits;
  CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('test.seen', true) = 'yes' THEN RETURN NEW; END IF;
      PERFORM set_config('test.seen', 'yes', true);
      IF nextval('public.commits') % 3 = 0 THEN
        RAISE EXCEPTION 'refused by the test' USING ERRCODE = 'serialization_failure';
      END IF;
      RETURN NEW;
    END $$`;

const FORMS = {
  "at the commit": `CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON holdpoint.checkpoints
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.refuse()`,
  "at a statement": `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON holdpoint.checkpoints
    FOR EACH ROW EXECUTE FUNCTION public.refuse()`,
};

async function start(): Promise<{ readonly server: ServerHere; readonly uri: string }> {
  const uri = await newDatabase();
  const server = await startServerHere({
    dataDir: temporaryFolder(),
    config: join(ROOT, "test", "faults", "graphs", "walk.json"),
    env: { DATABASE_URI: uri },
  });
  after(() => server.stop());
  return { server, uri };
}

async function queried(uri: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

interface State {
  readonly values: unknown;
  readonly next: unknown;
  readonly metadata: { readonly step: number; readonly source: string };
  readonly checkpoint: { readonly checkpoint_id: string };
  readonly parent_checkpoint: { readonly checkpoint_id: string } | null;
}

/** Runs a thread to its end with an answer to each question. @returns what a client sees of it */
async function played(server: ServerHere): Promise<unknown> {
  const { body } = await call(server, "POST", "/threads", {});
  const path = `/threads/${(body as { readonly thread_id: string }).thread_id}`;
  let request: object = { input: {} };
  const events: unknown[] = [];
  for (;;) {
    const run = await call(server, "POST", `${path}/runs`, { assistant_id: "walk", ...request });
    const { run_id: runId } = run.body as { readonly run_id: string };
    const { body: ended } = await call(server, "GET", `${path}/runs/${runId}/join`);
    const read = await fetch(`${server.url}${path}/runs/${runId}/stream`, { headers: { "last-event-id": "-1" } });
    events.push([...(await read.text()).matchAll(/^event: (.*)$/gm)].map(([, name]) => name));
    const questions = questionsIn(ended);
    if (questions.length === 0) break;
    request = { command: { resume: Object.fromEntries(questions.map(({ id, value }) => [id, value])) } };
  }
  const history = (await call(server, "POST", `${path}/history`, { limit: 100 })).body as readonly State[];
  for (const [at, state] of history.entries())
    assert.equal(state.parent_checkpoint?.checkpoint_id, history[at + 1]?.checkpoint.checkpoint_id, "one line");
  return {
    events,
    history: history.map(({ values, next, metadata }) => [values, next, metadata.step, metadata.source]),
  };
}

let undisturbed: Promise<unknown> | null = null;

for (const [form, trigger] of Object.entries(FORMS)) {
  test(
    `transactions that PostgreSQL refuses ${form} change neither a thread nor its events nor its answers (machines-refused-commits.1, machines-refused-commits.2, machines-refused-commits.3)`,
    { timeout: FULL ? 1_200_000 : PATIENCE.timeout },
    async () => {
      undisturbed ??= start().then(({ server }) => played(server));
      const { server, uri } = await start();
      await queried(uri, `${REFUSAL}; ${trigger}`);
      for (let n = 0; n < THREADS; n++) assert.deepEqual(await played(server), await undisturbed);
      const [counts] = await queried(uri, "SELECT last_value AS commits FROM public.commits");
      // The busier the machine, the more checkpoints share a commit.
      assert.ok(Number(counts?.["commits"]) > 5 * THREADS, `${String(counts?.["commits"])} commits`);
    },
  );
}
