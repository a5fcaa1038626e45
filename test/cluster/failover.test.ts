// Tests of an address with several hosts: the primary dies under load, and its standby takes over.
//   failover.1. Servers find the new primary by themselves, and go on: calls, notices, the lease of a worker.
//   failover.2. With synchronous replication nothing that was acknowledged is lost.
//   failover.3. With asynchronous replication only what the standby had not received is lost; what is left is whole:
//        questions are open and take one answer.
//   failover.4. Without a host that takes writes the start fails, and names each host with its reason.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client } from "pg";
import { type Bench, each, only, questionsIn, resumeBody, until } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { IS_LONG } from "../harness/long.ts";
import { PATIENCE } from "../harness/patience.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres/server.ts";
import { startServerHere } from "../harness/server-here.ts";

const CALLERS = 4;
const [BEFORE, BEHIND] = IS_LONG ? [12, 12] : [6, 6];

/** What callers were told. */
interface Acknowledged {
  readonly open: Map<string, string>;
  readonly answered: Set<string>;
}
const countAll = ({ open, answered }: Acknowledged): number => open.size + answered.size;

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: string;
  /** Both hosts, the standby first. */
  readonly uri: string;
  readonly fleet: Fleet;
}

async function startPair(): Promise<Pair> {
  const primary = await startPostgres(true);
  let fleet: Fleet | null = null;
  after(async () => {
    await fleet?.end();
    await primary.stop();
  });
  const standby = await primary.addStandby();
  const uri = `postgres://holdpoint@${new URL(standby).host},${new URL(primary.uri).host}/postgres?target_session_attrs=read-write`;
  fleet = new Fleet(uri);
  return { primary, standby, uri, fleet };
}

async function ask(uri: string, ...texts: readonly string[]): Promise<unknown> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    let value: unknown;
    for (const text of texts) value = Object.values((await client.query<object>(text)).rows[0] ?? {})[0];
    return value;
  } finally {
    await client.end();
  }
}

/** A commit waits for the standby. */
async function synchronize({ primary }: Pair): Promise<void> {
  await ask(primary.uri, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
  await until("the standby is synchronous", async () => {
    return (await ask(primary.uri, "SELECT sync_state FROM pg_stat_replication")) === "sync";
  });
}

/** The standby has all so far, and gets nothing more. */
async function cutOff({ primary, standby }: Pair): Promise<void> {
  const end = String(await ask(primary.uri, "SELECT pg_current_wal_flush_lsn()"));
  await until("the standby has all", async () => {
    return (await ask(standby, `SELECT pg_last_wal_replay_lsn() >= '${end}'`)) === true;
  });
  await ask(standby, "ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()");
  await until("nothing streams", async () => {
    return Number(await ask(primary.uri, "SELECT count(*) FROM pg_stat_replication")) === 0;
  });
}

/** A pause, and for every second one its answer. Calls that fail with the primary were not acknowledged. */
async function cycle(bench: Bench, told: Acknowledged): Promise<void> {
  const created = await bench.attempt("POST", "/threads", {});
  if (created?.status !== 200) return;
  const { thread_id: thread } = created.body as { readonly thread_id: string };
  const path = `/threads/${thread}/runs/wait`;
  const paused = await bench.attempt("POST", path, { assistant_id: "ask", input: {} });
  const [question] = paused?.status === 200 ? questionsIn(paused.body) : [];
  if (question === undefined) return;
  told.open.set(thread, question.id);
  if (told.open.size % 2 === 0) return;
  const answered = await bench.attempt("POST", path, resumeBody("ask", { [question.id]: 1 }));
  if (answered?.status !== 200) return;
  told.open.delete(thread);
  if (!("__error__" in (answered.body as object))) told.answered.add(thread);
}

/** Calls until `enough`. */
async function load(bench: Bench, told: Acknowledged, enough: () => boolean): Promise<void> {
  await each(Array.from({ length: CALLERS }), CALLERS, async () => {
    while (!enough()) await cycle(bench, told);
  });
}

/** failover.3 */
async function check(bench: Bench, { open, answered }: Acknowledged): Promise<void> {
  await each([...open], CALLERS, async ([thread, question]) => {
    assert.equal(await bench.settled(thread), "interrupted", thread);
    assert.equal(only(await bench.questions(thread), thread).id, question);
    const answers = await Promise.all([1, 2].map((one) => bench.resume(thread, "ask", { [question]: one })));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1, thread);
  });
  await each([...answered], CALLERS, async (thread) => {
    assert.equal(await bench.settled(thread), "idle", thread);
    assert.deepEqual(await bench.questions(thread), []);
  });
}

test(
  "synchronous replication: the primary dies under load, and nothing acknowledged is lost (failover.1, failover.2)",
  PATIENCE,
  async (t) => {
    const pair = await startPair();
    await synchronize(pair);
    const { bench } = pair.fleet;
    pair.fleet.use(await pair.fleet.startHere("all"));
    const told: Acknowledged = { open: new Map(), answered: new Set() };
    let enough = (): boolean => false;
    const loading = load(bench, told, () => enough());
    await until("some calls", () => countAll(told) >= BEFORE);
    await pair.primary.crash();
    await ask(pair.standby, "SELECT pg_promote()");
    const before = countAll(told);
    enough = () => countAll(told) >= before + BEHIND;
    await loading;
    t.diagnostic(`${before} acknowledged before, ${countAll(told) - before} after`);
    await check(bench, told);
  },
);

test(
  "asynchronous replication: only what the standby had not received is lost (failover.1, failover.3)",
  PATIENCE,
  async () => {
    const pair = await startPair();
    const { bench } = pair.fleet;
    if (IS_LONG) await pair.fleet.startHere("worker");
    pair.fleet.use(await pair.fleet.startHere(IS_LONG ? "api" : "all"));
    const [kept, lost]: readonly Acknowledged[] = [1, 2].map(() => ({ open: new Map(), answered: new Set() }));
    assert.ok(kept && lost);
    await load(bench, kept, () => countAll(kept) >= BEFORE);
    await cutOff(pair);
    await load(bench, lost, () => countAll(lost) >= CALLERS);
    const [thread, question] = [...kept.open][0] ?? [];
    assert.ok(thread !== undefined && question !== undefined);
    const early = await bench.resume(thread, "ask", { [question]: 0 });
    assert.equal(early.status, 200, early.text); // lost as well: the question is open again
    await pair.primary.crash();
    await ask(pair.standby, "SELECT pg_promote()");
    const later: Acknowledged = { open: new Map(), answered: new Set() };
    await load(bench, later, () => countAll(later) >= BEHIND);
    await check(bench, kept);
    await check(bench, later);
    for (const gone of [...lost.open.keys(), ...lost.answered]) {
      assert.equal((await bench.call("GET", `/threads/${gone}`)).status, 404, gone);
    }
  },
);

test("without a host that takes writes the start names each of them (failover.4)", async () => {
  const { primary, standby, uri } = await startPair();
  await primary.crash();
  const [first, second] = [new URL(standby).host, new URL(primary.uri).host].map((host) => host.replaceAll(".", "\\."));
  const reasons = `no connection to a host that takes writes: ${first} \\(takes no writes: .*\\), ${second} \\(.*ECONNREFUSED`;
  await assert.rejects(startServerHere({ env: { DATABASE_URI: uri } }), new RegExp(reasons));
});
