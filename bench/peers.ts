// Holdpoint beside other servers of the same API: the same graph and load, in turns, and the collector beside its floor.
// Each server is one process with an embedded storage. Figures of CPU and memory are of the process and its children, so
// it runs on Linux. Writes the table between the marks of docs/reference/sizing.md.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "../test/harness/postgres/free-port.ts";
import { awaitStart, copyGraphs, installPeers, PEERS, readPeerVersion, startPeer, type Started } from "./agent/peer.ts";
import { measureFloors } from "./collector.ts";
import { MAIN, ROOT } from "./agent/server.ts";
import { cpuSecondsOfTree, median, residentBytesOfTree, runScript } from "./measure.ts";
import { writeBetweenMarks } from "./table.ts";

const GRAPHS = join(ROOT, "bench/graphs");
const PAGE = join(ROOT, "docs/reference/sizing.md");
const STATE_BYTES = 1000;
/** What a load leaves in the heap is collected by then. */
const REST_MS = 10_000;

interface Sizes {
  readonly warmUp: number;
  readonly cycles: number;
  readonly rounds: number;
  /** Cycles of one client, each of which may take more than a second. */
  readonly alone: number;
  readonly paused: number;
}
/** Ten quiet minutes: the peers reply to a wait after half a second, so 32 clients make thirty cycles a second. */
const FULL: Sizes = { warmUp: 500, cycles: 400, rounds: 3, alone: 10, paused: 2000 };
const SHORT: Sizes = { warmUp: 100, cycles: 100, rounds: 2, alone: 15, paused: 500 };

interface Candidate {
  readonly name: string;
  /** Its waits reply without the state. */
  readonly isBlind: boolean;
  readonly start: (dataFolder: string) => Promise<Started>;
}

interface Figures {
  readonly cycles: number[];
  readonly latencies: number[];
  readonly starts: number[];
  idle: number;
  paused: number;
}

function listCandidates(): readonly Candidate[] {
  const own = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string }).version;
  const graphs = copyGraphs(GRAPHS, "bench");
  const { reference, "pure-graph": other } = PEERS;
  const sqlite = { SQLITE_DATABASE_URI: "./chat.db", CHECKPOINT_TYPE: "sqlite" };
  return [
    { name: `Holdpoint ${own}`, isBlind: false, start: startHoldpoint },
    {
      name: `${reference.name} ${readPeerVersion(reference.package)}`,
      isBlind: false,
      start: (dataFolder) => startPeer({ kind: "reference", graphs, dataFolder }),
    },
    {
      name: `${other.name} ${readPeerVersion(other.package)}, SQLite`,
      isBlind: true,
      start: (dataFolder) => startPeer({ kind: "pure-graph", graphs, dataFolder, env: sqlite }),
    },
  ];
}

async function startHoldpoint(dataFolder: string): Promise<Started> {
  const port = await freePort();
  const own = { PORT: String(port), HOLDPOINT_DATA_DIR: dataFolder, LOG_LEVEL: "error" };
  const child = spawn(MAIN, ["serve", "--config", join(GRAPHS, "langgraph.json")], {
    stdio: "ignore",
    env: { ...process.env, ...own },
  });
  return awaitStart(child, `http://127.0.0.1:${port}`);
}

export async function benchPeers({ short }: { readonly short: boolean }): Promise<void> {
  const startedAt = performance.now();
  installPeers();
  const sizes = short ? SHORT : FULL;
  const candidates = listCandidates();
  const all = candidates.map((): Figures => ({ cycles: [], latencies: [], starts: [], idle: 0, paused: 0 }));
  for (let round = 0; round < sizes.rounds; round++) {
    for (const [at, candidate] of candidates.entries()) await measureRound(candidate, all[at] as Figures, sizes);
  }
  for (const [at, candidate] of candidates.entries()) await measurePaused(candidate, all[at] as Figures, sizes.paused);
  const table = makeTable(candidates, all, sizes, await measureFloors(short ? 1 : 3));
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const form = short ? "The short form, with servers that have just started" : "The whole form";
  writeBetweenMarks(PAGE, "peers", `${form}; it took ${minutes} minutes.\n\n${table}`);
}

/** A new server: its start, its memory at rest, its cycles with many clients and with one. */
async function measureRound(candidate: Candidate, figures: Figures, sizes: Sizes): Promise<void> {
  await withServer(candidate, async (server, startMs) => {
    figures.starts.push(startMs);
    await setTimeout(2000);
    figures.idle = residentBytesOfTree(server.pid) ?? Number.NaN;
    await load(candidate, server, sizes.warmUp, 32);
    const before = cpuSecondsOfTree(server.pid) ?? Number.NaN;
    await load(candidate, server, sizes.cycles, 32);
    figures.cycles.push(sizes.cycles / ((cpuSecondsOfTree(server.pid) ?? Number.NaN) - before));
    const { medianMs = Number.NaN } = await load(candidate, server, sizes.alone, 1);
    figures.latencies.push(medianMs);
    console.log(
      `${candidate.name}: ${figures.cycles.at(-1)?.toFixed(0)} cycles a CPU-second, ${medianMs.toFixed(1)} ms`,
    );
  });
}

async function measurePaused(candidate: Candidate, figures: Figures, threads: number): Promise<void> {
  await withServer(candidate, async (server) => {
    await load(candidate, server, threads, 32, "pause-only");
    await setTimeout(REST_MS);
    figures.paused = residentBytesOfTree(server.pid) ?? Number.NaN;
    console.log(`${candidate.name}: ${megabytes(figures.paused)} with ${threads} paused`);
  });
}

async function withServer(
  { start }: Candidate,
  use: (server: Started, startMs: number) => Promise<void>,
): Promise<void> {
  const dataFolder = mkdtempSync(join(tmpdir(), "bench-peers-"));
  const startedAt = performance.now();
  const server = await start(dataFolder);
  try {
    await use(server, performance.now() - startedAt);
  } finally {
    await server.kill();
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

function load({ isBlind }: Candidate, { url }: Started, cycles: number, clients: number, mode = "cycle") {
  const args = [url, cycles, clients, STATE_BYTES, "bench", mode, isBlind ? "blind" : "sees"];
  return runScript(join(ROOT, "bench/agent/client.ts"), args);
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

function makeTable(
  candidates: readonly Candidate[],
  all: readonly Figures[],
  sizes: Sizes,
  floors: Awaited<ReturnType<typeof measureFloors>>,
): string {
  const line = (what: string, show: (one: Figures) => string): string => `| ${[what, ...all.map(show)].join(" | ")} |`;
  const [processor] = cpus();
  const machine = `${cpus().length} cores of ${processor?.model ?? "an unknown processor"}, Linux ${release()}, Node.js ${process.versions.node}`;
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} on ${machine}; ${sizes.rounds} rounds in turns, ${sizes.cycles} cycles each after ${sizes.warmUp} to warm up, ${sizes.alone} of one client. The median of the rounds counts. Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}.`,
    "",
    `| subject | ${candidates.map(({ name }) => name).join(" | ")} |`,
    `| --- |${" --- |".repeat(candidates.length)}`,
    line("cycles a CPU-second, 32 clients", ({ cycles }) => median(cycles).toFixed(0)),
    line("median cycle of one client", ({ latencies }) => `${median(latencies).toFixed(1)} ms`),
    line("memory, idle", ({ idle }) => megabytes(idle)),
    line(`memory with ${sizes.paused} paused threads`, ({ paused }) => megabytes(paused)),
    line("start, until the first reply of `/ok`", ({ starts }) => `${(median(starts) / 1000).toFixed(2)} s`),
    "",
    "| spans a CPU-second | floor: the least work of any proxy on Node | collector | ratio |",
    "| --- | --- | --- | --- |",
    ...floors.map(([name, floor, own]) => `| ${name} | ${floor} | ${own} | ${(own / floor).toFixed(2)} |`),
  ].join("\n");
}
