// Encryption: the CPU time of a cycle with encryption keys beside the same without, on both storages. Both servers are up
// at once and get the load in short turns, so that other work on the machine weighs on both alike; the median of the
// turns' ratios counts. Neither keeps the index of words, which is off with keys: a server writes it when its load is
// over, so the other one's turn would pay for it.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { startPostgres, type PostgresServer } from "../test/harness/postgres/server.ts";
import { newDatabase } from "./agent/postgres.ts";
import { type MeasuredServer, removeFolder, startServer } from "./agent/server.ts";
import { cpuSecondsOfTree, median, runScript } from "./measure.ts";

const CLIENTS = 32;
const STATE_BYTES = 1000;
const ASKED = 1.1;

interface Sizes {
  readonly turns: number;
  readonly cycles: number;
  readonly warmUp: number;
}
const FULL: Sizes = { turns: 30, cycles: 200, warmUp: 3000 };
const SHORT: Sizes = { turns: 16, cycles: 100, warmUp: 600 };

type Env = Readonly<Record<string, string>>;

export async function benchEncryption({ short }: { readonly short: boolean }): Promise<void> {
  const sizes = short ? SHORT : FULL;
  console.log("| storage | CPU a cycle: server, plain / sealed | PostgreSQL, plain / sealed | ratio of the servers |");
  console.log("| --- | --- | --- | --- |");
  await compareSealed("embedded database", [{}, {}], null, sizes);
  const postgres = await startPostgres(true);
  try {
    const uris = [await newDatabase(postgres, "plain"), await newDatabase(postgres, "sealed")] as const;
    await compareSealed("PostgreSQL", [{ DATABASE_URI: uris[0] }, { DATABASE_URI: uris[1] }], postgres, sizes);
  } finally {
    await postgres.stop();
  }
}

/** @param envs of the plain server and of the sealed one */
async function compareSealed(
  what: string,
  envs: readonly [Env, Env],
  postgres: PostgresServer | null,
  { turns, cycles, warmUp }: Sizes,
): Promise<void> {
  const keys = { HOLDPOINT_ENCRYPTION_KEYS: `bench:${randomBytes(32).toString("base64")}` };
  const start = (env: Env): Promise<MeasuredServer> => startServer(undefined, { HOLDPOINT_SEARCH: "false", ...env });
  const servers = [await start(envs[0]), await start({ ...envs[1], ...keys })];
  const own: number[][] = [[], []];
  const database: number[][] = [[], []];
  try {
    for (const server of servers) await load(server, warmUp);
    for (let turn = 0; turn < turns; turn++)
      for (const at of turn % 2 === 0 ? [0, 1] : [1, 0]) {
        const server = servers[at] as MeasuredServer;
        const look = async (): Promise<readonly [number, number]> => [
          (await server.metrics()).cpuSeconds,
          postgres === null ? 0 : (cpuSecondsOfTree(postgres.pid) ?? Number.NaN),
        ];
        const before = await look();
        await load(server, cycles);
        const after = await look();
        own[at]?.push((after[0] - before[0]) / cycles);
        database[at]?.push((after[1] - before[1]) / cycles);
      }
  } finally {
    for (const server of servers) {
      await server.stop();
      removeFolder(server.folder);
    }
  }
  const [plain = [], sealed = []] = own;
  const ratios = sealed.map((one, turn) => one / (plain[turn] ?? Number.NaN));
  const ms = (all: readonly number[] = []): string => `${(median(all) * 1000).toFixed(2)} ms`;
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${turns} turns`;
  const ofDatabase = postgres === null ? "–" : `${ms(database[0])} / ${ms(database[1])}`;
  const ratio = `${median(ratios).toFixed(2)} (${spread}; asked at most ${ASKED})`;
  console.log(`| ${[what, `${ms(plain)} / ${ms(sealed)}`, ofDatabase, ratio].join(" | ")} |`);
}

async function load(server: MeasuredServer, cycles: number): Promise<void> {
  await runScript(join(import.meta.dirname, "agent/client.ts"), [server.url, cycles, CLIENTS, STATE_BYTES]);
}
