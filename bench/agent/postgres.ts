// Agent server on PostgreSQL, many processes: the cost of a cycle next to the same graph without a server, the gain of
// a second worker, the wait of a run in an empty queue, and the effect of a full database. All figures are per run, in
// CPU time of the servers: client, database and servers share the machine, so throughput would not show it.
import { join } from "node:path";
import { Client } from "pg";
import { startPostgres, type PostgresServer } from "../../test/harness/postgres/server.ts";
import { fillDatabase } from "./many-rows.ts";
import { compare, startInProcess } from "./compare.ts";
import { cpuSecondsOfTree, median, runScript } from "../measure.ts";
import { removeFolder, startServer, type MeasuredServer } from "./server.ts";
import { createTable } from "../table.ts";

const script = (name: string): string => join(import.meta.dirname, name);
const STATE_BYTES = 1000;
const CLIENTS = 32;
/** A slot for each client, so that figures of CPU have no wait in the queue in them; the default slots have a row each. */
const SLOTS = 64;
/** Cycles for each server before it is measured: compiling goes on until then, and would count for each worker anew. */
const WARM_UP = 5000;

interface Sizes {
  readonly cycles: number;
  readonly waits: number;
  readonly finishedRuns: number;
  readonly pausedThreads: number;
}
const FULL: Sizes = { cycles: 2000, waits: 500, finishedRuns: 1_000_000, pausedThreads: 100_000 };
const SHORT: Sizes = { cycles: 1000, waits: 100, finishedRuns: 20_000, pausedThreads: 2000 };

/** @param options `json`: file for the figures */
export async function benchPostgres(options: { readonly short: boolean; readonly json: string }): Promise<void> {
  const sizes = options.short ? SHORT : FULL;
  const postgres = await startPostgres(true);
  const table = createTable(options.json);
  const note = (what: string, measured: string, ratio: number, asked: string): void =>
    table.note({ what, measured, ratio, asked });
  try {
    await rememberCommitTimes(postgres);
    const library = await startInProcess(STATE_BYTES, WARM_UP);
    await measureDefaults(note, postgres, sizes.cycles);
    const empty = await newDatabase(postgres, "empty");
    const alone = await withServers(empty, ["all"], async (servers) => {
      await load(servers, WARM_UP, CLIENTS);
      return compare(servers, library, { cycles: sizes.cycles, rounds: 3, clients: CLIENTS, stateBytes: STATE_BYTES });
    });
    await library.stop();
    note(
      "CPU a cycle (in process / one server)",
      `${ms(alone.library)} / ${ms(alone.server)}`,
      alone.ratio,
      "at least 0.4",
    );
    const trips = await roundTripsPerCycle(empty, sizes.cycles);
    note("round trips to the database a cycle", trips.toFixed(1), trips / ROUND_TRIPS_BEFORE, "at most 1");

    const one = await withServers(empty, ["api", "worker"], (servers) => cpuPerCycle(servers, sizes.cycles));
    const two = await withServers(empty, ["api", "worker", "worker"], (servers) => cpuPerCycle(servers, sizes.cycles));
    note("CPU a cycle (two workers / one)", `${ms(two)} / ${ms(one)}`, two / one, "at most 1.12");

    const quick = await newDatabase(postgres, "quick");
    // A bare NOTIFY does not wait for the disk; nor does a commit here, whose time is taken before it does.
    await withClient(quick, (client) => client.query("ALTER DATABASE bench_quick SET synchronous_commit = off"));
    const wait = await withServers(quick, ["api", "worker"], async (servers) => {
      await load(servers, WARM_UP, CLIENTS);
      return queueWait(quick, servers, sizes.waits);
    });
    const waited = await withServers(quick, ["all"], (servers) => queued(quick, servers, sizes.waits));
    const notify = await notifyRoundTrip(quick, sizes.waits);
    note("queue wait p50 (a run / a bare NOTIFY)", `${ms(wait)} / ${ms(notify)}`, wait / notify, "at most 6");
    note(
      "runs that wait where the server has a slot (of all)",
      `${waited} / ${sizes.waits}`,
      waited / sizes.waits,
      "at most 0",
    );

    const full = await newDatabase(postgres, "full");
    await withServers(full, ["all"], (servers) => load(servers, 1, 1));
    await withServers(full, ["all"], (servers) => load(servers, 1, 1, "pause-only"));
    await fillDatabase(full, sizes);
    const crowded = await withServers(full, ["all"], (servers) => cpuPerCycle(servers, sizes.cycles));
    const again = await withServers(empty, ["all"], (servers) => cpuPerCycle(servers, sizes.cycles));
    const what = `CPU a cycle (${sizes.finishedRuns} runs, ${sizes.pausedThreads} pauses / few)`;
    note(what, `${ms(crowded)} / ${ms(again)}`, crowded / again, "at most 1.3");
    table.close();
  } finally {
    await postgres.stop();
  }
}

type NoteRow = (what: string, measured: string, ratio: number, asked: string) => void;

/** One server as it is without settings: ten slots for 32 clients, so that most runs wait in the queue. */
async function measureDefaults(note: NoteRow, postgres: PostgresServer, cycles: number): Promise<void> {
  const uri = await newDatabase(postgres, "defaults");
  await withServers(
    uri,
    ["all"],
    async (servers) => {
      const cpu = async (): Promise<readonly [number, number]> => [
        (await servers[0]?.metrics())?.cpuSeconds ?? Number.NaN,
        cpuSecondsOfTree(postgres.pid) ?? Number.NaN,
      ];
      await load(servers, WARM_UP, CLIENTS);
      const before = await cpu();
      const { medianMs = Number.NaN, p99Ms = Number.NaN, seconds = Number.NaN } = await load(servers, cycles, CLIENTS);
      const after = await cpu();
      const [server, database] = [0, 1].map((at) => ((after[at] ?? 0) - (before[at] ?? 0)) / cycles) as [
        number,
        number,
      ];
      const rate = `${Math.round(cycles / seconds)} cycles a second`;
      note(
        "default slots: cycle p99 / p50",
        `${p99Ms.toFixed(0)} / ${medianMs.toFixed(0)} ms; ${rate}`,
        p99Ms / medianMs,
        "at most 3",
      );
      note("default slots: CPU a cycle in the server", ms(server), server / 0.0045, "at most 1 x 4.5 ms");
      note("default slots: CPU a cycle in PostgreSQL", ms(database), database / 0.005, "at most 1 x 5 ms");
    },
    null,
  );
}

/** Round trips of version 0.1.0, warm, 32 clients: the ratio shows a change. */
const ROUND_TRIPS_BEFORE = 10.4;

/** Packets from one server, whose pool of connections is shared by all clients. */
async function roundTripsPerCycle(uri: string, cycles: number): Promise<number> {
  const more = { DATABASE_URI: uri, N_JOBS_PER_WORKER: String(SLOTS) };
  const server = await startServer(undefined, more, { countSql: true });
  await load([server], 200, CLIENTS);
  const before = (await server.counts()).roundTrips;
  await load([server], cycles, CLIENTS);
  const after = (await server.counts()).roundTrips;
  await server.stop();
  removeFolder(server.folder);
  return (after - before) / cycles;
}

async function withClient<T>(uri: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function rememberCommitTimes(postgres: PostgresServer): Promise<void> {
  await withClient(postgres.uri, (client) => client.query("ALTER SYSTEM SET track_commit_timestamp = on"));
  await postgres.shutDown();
  await postgres.start();
}

export async function newDatabase(postgres: PostgresServer, name: string): Promise<string> {
  await withClient(postgres.uri, (client) => client.query(`CREATE DATABASE bench_${name}`));
  const uri = new URL(postgres.uri);
  uri.pathname = `/bench_${name}`;
  return uri.href;
}

async function withServers<T>(
  uri: string,
  roles: readonly string[],
  work: (servers: readonly MeasuredServer[]) => Promise<T>,
  slots: number | null = SLOTS,
): Promise<T> {
  const servers: MeasuredServer[] = [];
  const more = slots === null ? {} : { N_JOBS_PER_WORKER: String(slots) };
  try {
    for (const role of roles)
      servers.push(await startServer(undefined, { DATABASE_URI: uri, HOLDPOINT_ROLE: role, ...more }));
    return await work(servers);
  } finally {
    for (const server of servers.toReversed()) {
      await server.stop();
      removeFolder(server.folder);
    }
  }
}

async function load(
  servers: readonly MeasuredServer[],
  cycles: number,
  clients: number,
  mode = "cycle",
): Promise<Record<string, number>> {
  const args = [servers[0]?.url ?? "", cycles, clients, STATE_BYTES, "bench", mode];
  return runScript(script("client.ts"), args);
}

/** Processor time of all the servers together. */
async function cpuPerCycle(servers: readonly MeasuredServer[], cycles: number): Promise<number> {
  const used = async (): Promise<number> => {
    const each = await Promise.all(servers.map((server) => server.metrics()));
    return each.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  };
  await load(servers, WARM_UP * servers.length, CLIENTS);
  const before = await used();
  await load(servers, cycles, CLIENTS);
  return ((await used()) - before) / cycles;
}

/** From the commit of a run to its claim, one run at a time, on the clock of the database. */
async function queueWait(uri: string, [api]: readonly MeasuredServer[], count: number): Promise<number> {
  return withClient(uri, async (client) => {
    await client.query(WATCH_QUEUE);
    await runOneByOne(api, count);
    const { rows } = await client.query<{ readonly wait: number }>(
      `SELECT extract(epoch FROM c.at - pg_xact_commit_timestamp(a.xmin))::float8 AS wait
       FROM bench.accepted AS a JOIN bench.claimed AS c USING (run_id)`,
    );
    if (rows.length < count) throw new Error(`${rows.length} of ${count} runs have come through the queue`);
    return median(rows.map(({ wait }) => wait));
  });
}

/** How many runs were accepted to wait, although they came one at a time to a server that could start each. */
async function queued(uri: string, [server]: readonly MeasuredServer[], count: number): Promise<number> {
  return withClient(uri, async (client) => {
    await client.query("TRUNCATE bench.claimed");
    await runOneByOne(server, count);
    return (await client.query("SELECT 1 FROM bench.claimed")).rows.length;
  });
}

async function runOneByOne(server: MeasuredServer | undefined, count: number): Promise<void> {
  const body = JSON.stringify({ assistant_id: "bench", input: { text: "x" } });
  const headers = { "content-type": "application/json" };
  for (let at = 0; at < count; at++) {
    const response = await fetch(`${server?.url ?? ""}/runs/wait`, { method: "POST", headers, body });
    await response.text();
  }
}

/** Plain INSERTs: the plan of a dynamic one would be made within the measured time. */
const WATCH_QUEUE = `
  CREATE SCHEMA bench;
  CREATE TABLE bench.accepted (run_id TEXT);
  CREATE TABLE bench.claimed (run_id TEXT, at TIMESTAMPTZ NOT NULL);
  CREATE FUNCTION bench.note_accepted() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO bench.accepted VALUES (NEW.run_id); RETURN NULL; END $$;
  CREATE FUNCTION bench.note_claimed() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO bench.claimed VALUES (NEW.run_id, clock_timestamp()); RETURN NULL; END $$;
  CREATE TRIGGER bench_accepted AFTER INSERT ON holdpoint.runs FOR EACH ROW EXECUTE FUNCTION bench.note_accepted();
  CREATE TRIGGER bench_claimed AFTER UPDATE OF status ON holdpoint.runs
    FOR EACH ROW WHEN (NEW.status = 'running') EXECUTE FUNCTION bench.note_claimed()`;

/** From sending it on one connection to hearing it on another. */
async function notifyRoundTrip(uri: string, count: number): Promise<number> {
  return withClient(uri, (listener) =>
    withClient(uri, async (sender) => {
      await listener.query("LISTEN bench");
      const times: number[] = [];
      for (let at = 0; at < count; at++) {
        const notified = new Promise<void>((resolve) => void listener.once("notification", () => resolve()));
        const sentAt = performance.now();
        await Promise.all([sender.query("NOTIFY bench"), notified]);
        times.push((performance.now() - sentAt) / 1000);
      }
      return median(times);
    }),
  );
}

function ms(seconds: number): string {
  return `${(seconds * 1000).toFixed(2)} ms`;
}
