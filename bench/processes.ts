// Processes: how the throughput of cycles grows with server processes on one PostgreSQL, what 1,000 cycles cost the
// servers and PostgreSQL, the cost of a read, and the price of a pooler of transactions where PgBouncer is installed.
// Client, servers and database share the machine: CPU time is the figure to compare, cycles a second only within a run.
import { spawnSync } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { startPgBouncer } from "../test/harness/postgres/pgbouncer.ts";
import { startPostgres, type PostgresServer } from "../test/harness/postgres/server.ts";
import { newDatabase } from "./agent/postgres.ts";
import { type MeasuredServer, removeFolder, startServer } from "./agent/server.ts";
import { cpuSecondsOfTree, runScript } from "./measure.ts";

const CLIENTS = 32;
const STATE_BYTES = 1000;
const COUNTS = [1, 2, 4];
const READERS = 8;
const PAUSED = 20;

interface Cost {
  readonly seconds: number;
  readonly server: number;
  readonly database: number;
}
type Env = Readonly<Record<string, string>>;

export async function benchProcesses({ short }: { readonly short: boolean }): Promise<void> {
  const [cycles, warmUp] = short ? [100, 100] : [2000, 5000];
  const postgres = await startPostgres(true);
  console.log(
    `cores: ${availableParallelism()}; load: ${loadavg()
      .map((one) => one.toFixed(1))
      .join(", ")}; ${cycles} cycles after ${warmUp} a process`,
  );
  console.log(
    "| processes | cycles a second | CPU-seconds of the servers, 1,000 cycles | of PostgreSQL | CPU-seconds of servers and PostgreSQL, 1,000 reads |",
  );
  console.log("| --- | --- | --- | --- | --- |");
  try {
    for (const count of COUNTS) {
      const uri = await newDatabase(postgres, `processes_${count}`);
      await measure(String(count), postgres, count, { DATABASE_URI: uri }, { cycles, warmUp });
    }
    if (spawnSync("pgbouncer", ["--version"]).status !== 0) return;
    const direct = await newDatabase(postgres, "pooled");
    const pooler = await startPgBouncer(direct, { default_pool_size: 20 });
    const env = { DATABASE_URI: pooler.uri, DATABASE_DIRECT_URI: direct };
    await measure("1, behind PgBouncer", postgres, 1, env, { cycles, warmUp });
    await pooler.stop();
  } finally {
    await postgres.stop();
  }
}

async function measure(
  what: string,
  postgres: PostgresServer,
  count: number,
  env: Env,
  { cycles, warmUp }: { readonly cycles: number; readonly warmUp: number },
): Promise<void> {
  const servers: MeasuredServer[] = [];
  try {
    for (let at = 0; at < count; at++) servers.push(await startServer(undefined, env));
    await load(servers, warmUp * count, "cycle");
    const cycle = await cost(postgres, servers, () => load(servers, cycles, "cycle"));
    await load(servers, PAUSED, "pause-only");
    await read(servers, cycles);
    const reads = await cost(postgres, servers, () => read(servers, cycles));
    const per1000 = (seconds: number): string => ((seconds * 1000) / cycles).toFixed(1);
    const figures = [(cycles / cycle.seconds).toFixed(0), per1000(cycle.server), per1000(cycle.database)];
    console.log(`| ${[what, ...figures, `${per1000(reads.server)} + ${per1000(reads.database)}`].join(" | ")} |`);
  } finally {
    for (const server of servers.toReversed()) {
      await server.stop();
      removeFolder(server.folder);
    }
  }
}

async function cost(
  postgres: PostgresServer,
  servers: readonly MeasuredServer[],
  work: () => Promise<void>,
): Promise<Cost> {
  const look = async (): Promise<readonly [number, number]> => {
    const each = await Promise.all(servers.map((server) => server.metrics()));
    return [each.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0), cpuSecondsOfTree(postgres.pid) ?? Number.NaN];
  };
  const [server, database] = await look();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const [serverAfter, databaseAfter] = await look();
  return { seconds, server: serverAfter - server, database: databaseAfter - database };
}

/** The clients and the cycles are shared by the servers. */
async function load(servers: readonly MeasuredServer[], cycles: number, mode: "cycle" | "pause-only"): Promise<void> {
  const share = (all: number): number => Math.ceil(all / servers.length);
  await Promise.all(
    servers.map(({ url }) =>
      runScript(join(import.meta.dirname, "agent/client.ts"), [
        url,
        share(cycles),
        share(CLIENTS),
        STATE_BYTES,
        "bench",
        mode,
      ]),
    ),
  );
}

/** States of paused threads. */
async function read(servers: readonly MeasuredServer[], count: number): Promise<void> {
  const url = servers[0]?.url ?? "";
  const body = JSON.stringify({ status: "interrupted", limit: PAUSED });
  const found = await fetch(`${url}/threads/search`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const threads = (await found.json()) as readonly { readonly thread_id: string }[];
  if (threads.length === 0) throw new Error("no thread is paused");
  let next = 0;
  const reader = async (): Promise<void> => {
    while (next < count) {
      const at = next++;
      const server = servers[at % servers.length];
      const state = await fetch(`${server?.url ?? ""}/threads/${threads[at % threads.length]?.thread_id ?? ""}/state`);
      if (!(await state.text()).includes('"interrupts":[{')) throw new Error("a state without its question");
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
}
