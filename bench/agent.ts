// Agent server benchmark: cost of a pause-and-resume cycle next to the same graph without a server, in one run.
// Every figure is a ratio of two measurements of this run, a count, or memory: machines differ, ratios do not.
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { compare, startInProcess } from "./agent/compare.ts";
import { measureLists } from "./agent/lists.ts";
import { runScript } from "./measure.ts";
import { multiplyPausedThread } from "./agent/many-paused.ts";
import { removeFolder, startServer, type MeasuredServer } from "./agent/server.ts";
import { measureFlushes, measureStatements } from "./agent/statements.ts";
import { measureStreams } from "./agent/streams.ts";
import { measureWaits } from "./agent/waits.ts";
import { createTable, type Note } from "./table.ts";

const HERE = join(import.meta.dirname, "agent");
const script = (name: string): string => join(HERE, name);

export interface AgentOptions {
  readonly short: boolean;
  /** Only a cycle's cost, with a short warm-up. */
  readonly quick: boolean;
  /** File for the figures. */
  readonly json: string;
}

interface Sizes {
  /** Cycles before the first measurement, on both sides. */
  readonly warmUp: number;
  readonly cycles: number;
  readonly rounds: number;
}
const FULL: Sizes = { warmUp: 5000, cycles: 2000, rounds: 3 };
const SHORT: Sizes = { warmUp: 1000, cycles: 400, rounds: 3 };
/** Enough for counts. The library is not warm yet, so ratios of CPU come out too high. */
const QUICK: Sizes = { warmUp: 200, cycles: 100, rounds: 3 };
const STATE_BYTES = 1000;
/** The room that the heap gets under load is back after this time. */
const REST_MS = 60_000;

export async function benchAgent(options: AgentOptions): Promise<void> {
  const sizes = options.quick ? QUICK : options.short ? SHORT : FULL;
  const table = createTable(options.json);
  const { note } = table;
  const server = await startServer();
  const idle = await server.metrics();
  await measureCycles(note, server, sizes);
  if (!options.quick) await measureBoundText(note, server, options.short);
  await server.stop();
  removeFolder(server.folder);
  await measureStatements(note, sizes.cycles, Math.min(sizes.warmUp, 300));
  if (!options.quick) await measureFlushes(note, Math.min(sizes.cycles, 300));
  if (!options.quick) await measureOthers(note, options, { idle, cycles: sizes.cycles });
  table.close();
  if (options.quick) console.log("quick: the counts hold; figures of CPU and time need the full run");
}

async function measureCycles(note: Note, server: MeasuredServer, sizes: Sizes): Promise<void> {
  const { warmUp, rounds } = sizes;
  const library = await startInProcess(STATE_BYTES, warmUp);
  await load(server, warmUp, 32, STATE_BYTES);
  const many = await compare([server], library, { ...sizes, clients: 32, stateBytes: STATE_BYTES });
  note({
    what: "CPU a cycle, 32 clients (in process / server)",
    measured: `${ms(many.library)} / ${ms(many.server)}; ${Math.round(1 / many.server)} cycles a second and core`,
    ratio: many.ratio,
    asked: "at least 0.5, wanted 0.6",
  });
  const cycles = Math.min(sizes.cycles, 500);
  const one = await compare([server], library, { cycles, rounds, clients: 1, stateBytes: STATE_BYTES });
  note({
    what: "median cycle, 1 client (server / in process)",
    measured: `${one.serverMs.toFixed(2)} ms / ${one.libraryMs.toFixed(2)} ms`,
    ratio: one.latencyRatio,
    asked: "at most 5",
  });
  await library.stop();
}

async function measureBoundText(note: Note, server: MeasuredServer, short: boolean): Promise<void> {
  for (const bytes of [100_000, 1_000_000]) {
    const rounds = short ? 10 : 40;
    const before = (await server.metrics()).boundUnits;
    await load(server, rounds, 4, bytes);
    const bound = ((await server.metrics()).boundUnits - before) / rounds;
    note({
      what: `text bound to SQL a cycle, state of ${bytes / 1000} KB`,
      measured: `${Math.round(bound / 1000)} KB`,
      ratio: bound / bytes,
      asked: "at most 2.5 x the state",
    });
  }
}

async function measureOthers(
  note: Note,
  options: AgentOptions,
  { idle, cycles }: { readonly idle: { readonly residentBytes: number }; readonly cycles: number },
): Promise<void> {
  const start = await runScript(script("start.ts"), [options.short ? 3 : 7]);
  note({
    what: "start to /ok (server / import of LangGraph)",
    measured: `${value(start, "startMs").toFixed(0)} ms / ${value(start, "importMs").toFixed(0)} ms`,
    ratio: value(start, "startMs") / value(start, "importMs"),
    asked: "at most 2",
  });
  await measureStreams(note, options.short);
  await measureMemory(note, idle.residentBytes, options.short ? 500 : 5000);
  await measureManyPaused(note, options.short ? 2000 : 200_000, cycles);
}

async function measureMemory(note: Note, idleBytes: number, threads: number): Promise<void> {
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
  note({
    what: "memory, idle",
    measured: megabytes(idleBytes),
    ratio: idleBytes / 190e6,
    asked: "at most 190 MB",
    limit: 1,
  });
  const server = await startServer();
  await load(server, threads, 32, 1000, "pause-only");
  const loaded = (await server.metrics()).residentBytes;
  note({
    what: "memory, under load",
    measured: megabytes(loaded),
    ratio: loaded / 400e6,
    asked: "at most 400 MB",
    limit: 1,
  });
  await setTimeout(REST_MS);
  const rested = (await server.metrics()).residentBytes;
  const what = `memory, ${threads} paused threads, after a minute`;
  note({ what, measured: megabytes(rested), ratio: rested / 230e6, asked: "at most 230 MB", limit: 1 });
  await server.stop();
  removeFolder(server.folder);
}

async function measureManyPaused(note: Note, many: number, cycles: number): Promise<void> {
  const [few, lots] = [await withPaused(100), await withPaused(many)];
  await measureLists(note, { few, lots, many }, cycles);
  await measureWaits(note, lots, many);
  const costs: number[] = [];
  for (const server of [few, lots]) {
    await load(server, 300, 32, 1000);
    costs.push(await cpuPerCycle(server, cycles, 32, 1000));
    await server.stop();
    removeFolder(server.folder);
  }
  const [ofFew = Number.NaN, ofLots = Number.NaN] = costs;
  note({
    what: `CPU a cycle with ${many} paused threads / with 100`,
    measured: `${ms(ofLots)} / ${ms(ofFew)}`,
    ratio: ofLots / ofFew,
    asked: "at most 1.2",
  });
}

async function withPaused(count: number): Promise<MeasuredServer> {
  const first = await startServer();
  await load(first, 1, 1, 1000, "pause-only");
  await first.stop();
  multiplyPausedThread(first.folder, count);
  return startServer(first.folder);
}

async function cpuPerCycle(server: MeasuredServer, cycles: number, clients: number, bytes: number): Promise<number> {
  const before = (await server.metrics()).cpuSeconds;
  await load(server, cycles, clients, bytes);
  return ((await server.metrics()).cpuSeconds - before) / cycles;
}

async function load(
  server: MeasuredServer,
  cycles: number,
  clients: number,
  bytes: number,
  mode = "cycle",
): Promise<{ readonly medianMs: number }> {
  const result = await runScript(script("client.ts"), [server.url, cycles, clients, bytes, "bench", mode]);
  return { medianMs: value(result, "medianMs") };
}

function value(record: Record<string, number>, name: string): number {
  return record[name] ?? Number.NaN;
}

function ms(seconds: number): string {
  return `${(seconds * 1000).toFixed(2)} ms`;
}
