// Agent server benchmark: cost of a pause-and-resume cycle next to the same graph without a server, in one run.
// Every figure is a ratio of two measurements of this run, a count, or memory: machines differ, ratios do not.
import { join } from "node:path";
import { measureLists } from "./agent/lists.ts";
import { runScript } from "./measure.ts";
import { measurePeer } from "./agent/peer.ts";
import { multiplyPausedThread } from "./agent/many-paused.ts";
import { removeFolder, startServer, type MeasuredServer } from "./agent/server.ts";
import { measureStatements } from "./agent/statements.ts";
import { measureStreams } from "./agent/streams.ts";

export interface Line {
  readonly what: string;
  readonly measured: string;
  readonly ratio: number;
  readonly asked: string;
}

const HERE = join(import.meta.dirname, "agent");
const script = (name: string): string => join(HERE, name);

export async function benchAgent(options: { readonly peer: boolean; readonly short: boolean }): Promise<void> {
  const cycles = options.short ? 400 : 2000;
  const lines: Line[] = [];
  const note = (line: Line): void => {
    lines.push(line);
    console.log(
      `${line.what.padEnd(46)} ${line.measured.padEnd(34)} ${line.ratio.toFixed(2).padStart(8)}   ${line.asked}`,
    );
  };
  console.log(`${"what".padEnd(46)} ${"measured".padEnd(34)} ${"ratio".padStart(8)}   asked`);

  const inProcess = await runScript(script("in-process.ts"), [cycles, 1000]);
  const inProcessCpu = value(inProcess, "cpuSeconds") / cycles;
  const server = await startServer();
  const idle = await server.metrics();
  await load(server, 300, 32, 1000);
  const busy = await cpuPerCycle(server, cycles, 32, 1000);
  note({
    what: "CPU a cycle, 32 clients (in process / server)",
    measured: `${ms(inProcessCpu)} / ${ms(busy)}`,
    ratio: inProcessCpu / busy,
    asked: "at least 0.5",
  });
  const alone = await load(server, Math.min(cycles, 500), 1, 1000);
  note({
    what: "median cycle, 1 client (server / in process)",
    measured: `${alone.medianMs.toFixed(2)} ms / ${value(inProcess, "medianMs").toFixed(2)} ms`,
    ratio: alone.medianMs / value(inProcess, "medianMs"),
    asked: "at most 6, aim 4",
  });
  for (const bytes of [100_000, 1_000_000]) {
    const rounds = options.short ? 10 : 40;
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
  await server.stop();
  removeFolder(server.folder);
  await measureStatements(note, cycles);

  const start = await runScript(script("start.ts"), [options.short ? 3 : 7]);
  note({
    what: "start to /ok (server / import of LangGraph)",
    measured: `${value(start, "startMs").toFixed(0)} ms / ${value(start, "importMs").toFixed(0)} ms`,
    ratio: value(start, "startMs") / value(start, "importMs"),
    asked: "at most 2",
  });
  await measureStreams(note, options.short);
  await measureMemory(note, idle.residentBytes, options.short ? 500 : 5000);
  await measureManyPaused(note, options.short ? 2000 : 100_000, cycles);
  if (options.peer) {
    const peer = await measurePeer(options.short ? 60 : 500);
    note({
      what: "CPU a cycle, 32 clients (peer / server)",
      measured: `${ms(peer)} / ${ms(busy)}`,
      ratio: peer / busy,
      asked: "at least 5",
    });
  }
  console.log(`ratios: ${lines.map((line) => line.ratio.toFixed(2)).join(" ")}`);
}

async function measureMemory(note: (line: Line) => void, idleBytes: number, threads: number): Promise<void> {
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
  note({ what: "memory, idle", measured: megabytes(idleBytes), ratio: idleBytes / 190e6, asked: "at most 190 MB" });
  const server = await startServer();
  await load(server, threads, 32, 1000, "pause-only");
  const { residentBytes } = await server.metrics();
  const what = `memory, after pausing ${threads} threads`;
  note({ what, measured: megabytes(residentBytes), ratio: residentBytes / 230e6, asked: "at most 230 MB" });
  await server.stop();
  removeFolder(server.folder);
}

async function measureManyPaused(note: (line: Line) => void, many: number, cycles: number): Promise<void> {
  const [few, lots] = [await withPaused(100), await withPaused(many)];
  await measureLists(note, { few, lots, many }, cycles);
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
