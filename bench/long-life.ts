// Long life: the cost of a cycle in a large file, the delay of calls during a backup, the size of a file under
// retention, and the cost of calls on a long thread. All on the embedded database.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { measureLongThreads, type LongThreadSizes } from "./long-life/long-thread.ts";
import { multiplyFinishedThread } from "./long-life/many-finished.ts";
import { removeFolder, ROOT, startServer, type MeasuredServer } from "./agent/server.ts";
import { median, runScript } from "./measure.ts";
import { createTable, type Note } from "./table.ts";

export interface LongLifeOptions {
  readonly short: boolean;
  /** File for the figures. */
  readonly json: string;
}

interface Sizes extends LongThreadSizes {
  /** Finished runs of the large file. */
  readonly runs: number;
  readonly cycles: number;
  readonly days: number;
  readonly threadsADay: number;
}
const FULL: Sizes = {
  runs: 1_000_000,
  cycles: 500,
  days: 30,
  threadsADay: 5000,
  checkpoints: 10_000,
  stateBytes: 10_000_000,
  messages: 10_000,
};
const SHORT: Sizes = {
  runs: 20_000,
  cycles: 200,
  days: 5,
  threadsADay: 1000,
  checkpoints: 1000,
  stateBytes: 1_000_000,
  messages: 1000,
};
const RUNS_A_THREAD = 2;
const CLIENTS = 32;
const STATE_BYTES = 1000;

export async function benchLongLife({ short, json }: LongLifeOptions): Promise<void> {
  const sizes = short ? SHORT : FULL;
  const table = createTable(json);
  const folder = await folderWithOneThread();
  await measureLargeFile(table.note, folder, sizes);
  await measureBackup(table.note, folder);
  removeFolder(folder);
  await measureRetention(table.note, sizes);
  await measureLongThreads(table.note, sizes);
  table.close();
}

async function folderWithOneThread(): Promise<string> {
  const server = await startServer();
  await load(server, 1, 1);
  await server.stop();
  return server.folder;
}

async function measureLargeFile(note: Note, folder: string, { runs, cycles }: Sizes): Promise<void> {
  multiplyFinishedThread(folder, Math.ceil(runs / RUNS_A_THREAD));
  const [large, fresh] = [await startServer(folder), await startServer()];
  const costs: { readonly large: number[]; readonly fresh: number[] } = { large: [], fresh: [] };
  for (const server of [large, fresh]) await load(server, 2 * cycles);
  for (let round = 0; round < 3; round++) {
    costs.large.push(await cpuOfCycle(large, cycles));
    costs.fresh.push(await cpuOfCycle(fresh, cycles));
  }
  for (const server of [large, fresh]) await server.stop();
  removeFolder(fresh.folder);
  const [ofLarge, ofFresh] = [median(costs.large), median(costs.fresh)];
  note({
    what: `CPU a cycle (file with ${runs} runs / fresh file)`,
    measured: `${(ofLarge * 1000).toFixed(2)} ms / ${(ofFresh * 1000).toFixed(2)} ms`,
    ratio: ofLarge / ofFresh,
    asked: "at most 1.15",
  });
}

/** Longest delay of a small write while `work` runs, with a few clients beside it. */
async function longestDelay(server: MeasuredServer, work: Promise<unknown>): Promise<number> {
  const state = { over: false };
  const ended = work.finally(() => {
    state.over = true;
  });
  const clients = (async () => {
    while (!state.over) await load(server, 100, 4);
  })();
  let longest = 0;
  while (!state.over) {
    const startedAt = performance.now();
    const reply = await fetch(`${server.url}/threads`, { method: "POST", body: "{}" });
    await reply.arrayBuffer();
    longest = Math.max(longest, performance.now() - startedAt);
    await sleep(10);
  }
  await Promise.all([ended, clients]);
  return longest;
}

async function measureBackup(note: Note, folder: string): Promise<void> {
  const server = await startServer(folder);
  await load(server, 200, 4);
  const target = join(folder, "copy.db");
  const args = [join(ROOT, "packages/holdpoint/src/main.ts"), "backup", target, "--data-dir", folder];
  const copied = once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  const during = await longestDelay(
    server,
    copied.then(() => sleep(1000)),
  ); // and just after it
  const without = await longestDelay(server, sleep(10_000));
  await server.stop();
  note({
    what: `longest call during a backup of ${Math.round(statSync(target).size / 1e6)} MB (without: ${without.toFixed(0)} ms)`,
    measured: `${during.toFixed(0)} ms`,
    ratio: during / 250,
    asked: "at most 250 ms",
    limit: 1,
  });
}

/** Each day adds threads, and those of the day before have expired. */
async function measureRetention(note: Note, { days, threadsADay }: Sizes): Promise<void> {
  const folder = await folderWithOneThread();
  const config = join(folder, "langgraph.json");
  const graphs = { bench: join(ROOT, "bench/graphs/graph.ts:graph") };
  writeFileSync(config, JSON.stringify({ graphs, checkpointer: { ttl: { sweep_interval_minutes: 0.005 } } }));
  const sizes: number[] = [];
  for (let day = 0; day < days; day++) {
    multiplyFinishedThread(folder, threadsADay, { ttl_ms: "1" });
    const server = await startServer(folder, {}, { config });
    while ((await countThreads(server)) > 1) await sleep(100);
    await server.stop();
    sizes.push(statSync(join(folder, "holdpoint.db")).size);
  }
  removeFolder(folder);
  const [first = Number.NaN, last = Number.NaN] = [sizes[1], sizes.at(-1)];
  note({
    what: `size of the file after ${days} days of ${threadsADay} threads / after 2`,
    measured: `${(last / 1e6).toFixed(1)} MB / ${(first / 1e6).toFixed(1)} MB`,
    ratio: last / first,
    asked: "at most 1.1",
  });
}

async function countThreads(server: MeasuredServer): Promise<number> {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(`${server.url}/threads/count`, { method: "POST", headers, body: "{}" });
  return Number(await reply.text());
}

async function cpuOfCycle(server: MeasuredServer, cycles: number): Promise<number> {
  const before = (await server.metrics()).cpuSeconds;
  await load(server, cycles);
  return ((await server.metrics()).cpuSeconds - before) / cycles;
}

async function load(server: MeasuredServer, cycles: number, clients = CLIENTS): Promise<void> {
  const script = join(import.meta.dirname, "agent/client.ts");
  await runScript(script, [server.url, cycles, clients, STATE_BYTES, "bench", "cycle"]);
}
