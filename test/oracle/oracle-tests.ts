// The oracle tests, for one version of the library: see oracle.ts. Checked (docs/concepts/guarantees.md 4, 5, 6):
//   oracle-tests.1. At each pause the server lists the open interrupts, each once, in the order of the library's tasks,
//        under the library's own id where it is unique, and under an id that no answer has named yet.
//   oracle-tests.2. Each answer arrives at its interrupt, also with several answers in one call.
//   oracle-tests.3. The result is that of the library in process.
//   oracle-tests.4. All this holds on both storages, and with kills of the server between answers and during their
//        runs.
// The short form takes programs that together have every kind of step and node. HOLDPOINT_FAULTS=full: 500 programs on
// each storage, and the last 40 of them again with kills: there a restart takes most of the time. A failure prints its
// seed and its plan. HOLDPOINT_ORACLE_SEED=n: one program.
import { setMaxListeners } from "node:events";
import { suite, test } from "node:test";
import { compare, oracleProject, serverSide, type OracleLibrary, type OracleProject, type Send } from "./oracle.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { readSizes } from "../histories/sizes.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, startServer, temporaryFolder } from "../harness/server.ts";
import type { WireRun } from "../harness/threads.ts";

export const FULL = process.env["HOLDPOINT_FAULTS"] === "full";
const ONE = Number(process.env["HOLDPOINT_ORACLE_SEED"] ?? 0);
const SEEDS = ONE > 0 ? [ONE] : readSizes().programs;
const KILLED_SEEDS = FULL ? SEEDS.slice(-40) : SEEDS.slice(-1);
/** The test kills the server each time it has accepted this many runs. */
const RUNS_PER_KILL = FULL ? { sqlite: 12, postgres: 60 } : { sqlite: 8, postgres: 8 };
const AT_ONCE = 4;
const PATIENCE = { timeout: FULL ? 3_600_000 : 390_000 };

type StorageName = "sqlite" | "postgres";

export interface OracleParts {
  /** Storages on which the programs run. */
  readonly programs: readonly StorageName[];
  /** Storages on which they run with kills. */
  readonly kills: readonly StorageName[];
}

export function oracleTests(tested: OracleLibrary, { programs, kills }: OracleParts): void {
  const { oldest } = tested;
  setMaxListeners(100);
  const project = oracleProject(SEEDS, tested);
  const killedProject = kills.length === 0 ? project : oracleProject(KILLED_SEEDS, tested); // few graphs start fast
  suite(`programs that ask, as the library has them, on the ${oldest ? "oldest" : "pinned"} LangGraph`, () => {
    for (const storage of programs)
      test(
        `${SEEDS.length} programs on ${storage} (oracle-tests.1, oracle-tests.2, oracle-tests.3)`,
        PATIENCE,
        async () => runAll(await project, SEEDS, storage),
      );
    for (const storage of kills)
      test(`with kills on ${storage} (oracle-tests.4)`, PATIENCE, async () =>
        runKilled(await killedProject, KILLED_SEEDS, storage),
      );
  });
}

async function environment(storage: StorageName): Promise<Record<string, string>> {
  return { DATABASE_URI: storage === "postgres" ? await newDatabase() : "" };
}

async function runAll(project: OracleProject, seeds: readonly number[], storage: StorageName): Promise<void> {
  const server = await startServerHere({ config: project.config, env: await environment(storage) });
  const send: Send = async (threadId, body) => {
    const reply = await call(server, "POST", `/threads/${threadId}/runs/wait`, body);
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
    return reply.body;
  };
  try {
    await each(seeds, async (seed) =>
      compare(project, seed, await serverSide({ server: () => server, seed, send, raised: project.library.raised })),
    );
  } finally {
    await server.stop();
    removeFolder(server.dataDir);
  }
}

/** Some at a time; the first failure ends it. */
async function each(seeds: readonly number[], work: (seed: number) => Promise<unknown>): Promise<void> {
  const left = [...seeds];
  const lane = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) await work(seed);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function runKilled(project: OracleProject, seeds: readonly number[], storage: StorageName): Promise<void> {
  const options = { config: project.config, dataDir: temporaryFolder(), env: await environment(storage) };
  let server = await startServer(options);
  let up: Promise<void> = Promise.resolve();
  let accepted = 0;
  let keys = 0;
  const restart = async (): Promise<void> => {
    await server.kill();
    server = await startServer(options);
  };
  /** The test repeats an interrupted call at the next server. */
  const stubborn = async <T>(make: () => Promise<T>): Promise<T> => {
    for (;;) {
      await up;
      const at = server;
      try {
        return await make();
      } catch (error) {
        await up;
        if (at === server) throw error;
      }
    }
  };
  const send: Send = async (threadId, body) => {
    const key = { "idempotency-key": `oracle ${keys++}` };
    const begun = await stubborn(() => call(server, "POST", `/threads/${threadId}/runs`, body, key));
    if (begun.status !== 200) throw new Error(`${begun.status} ${begun.text}`);
    if (++accepted % RUNS_PER_KILL[storage] === 0) up = restart(); // while runs are under way
    const path = `/threads/${threadId}/runs/${(begun.body as WireRun).run_id}/join`;
    const reply = await stubborn(() => call(server, "GET", path));
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
    return reply.body;
  };
  try {
    await each(seeds, async (seed) =>
      compare(project, seed, await stubborn(() => serverSide({ server: () => server, seed, send, raised: null }))),
    );
    await up;
  } finally {
    await up.catch(() => undefined);
    await server.stop();
    removeFolder(options.dataDir);
  }
}
