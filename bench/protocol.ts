// Benchmark of the thread protocol, each figure next to its limit: the first event of a run, deltas for many readers,
// readers without events, and replays of long threads. Each ratio has both sides measured in turn, and medians of them.
import { DatabaseSync } from "node:sqlite";
import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { removeFolder, startServer, temporaryFolder, type MeasuredServer } from "./agent/server.ts";
import { cpuSeconds, cpuSecondsOfTree, median, runScript } from "./measure.ts";
import { post, readTo } from "./protocol/events.ts";

const script = (name: string): string => join(import.meta.dirname, "protocol", name);
const DELTAS = 10_000;
const READERS = 100;
const IDLE_READERS = 1000;
const RUNS = 1000;
const END = /:(completed|interrupted|failed):/;

function note(what: string, measured: string, ratio: number, asked: string): void {
  console.log(`${what.padEnd(50)} ${measured.padEnd(40)} ${ratio.toFixed(2).padStart(8)}   ${asked}`);
}

const TURNS = 3;

/** Measures both sides several times in turn: the load of the machine changes during a run. */
async function inTurns<T>(measure: () => Promise<T>): Promise<readonly T[]> {
  const turns: T[] = [];
  for (let turn = 0; turn < TURNS; turn++) turns.push(await measure());
  return turns;
}

function mid(turns: readonly Readonly<Record<string, number>>[], name: string): number {
  return median(turns.map((turn) => turn[name] ?? Number.NaN));
}

export async function benchProtocol({ short }: { readonly short: boolean }): Promise<void> {
  const server = await startServer(temporaryFolder());
  await measureFirstEvent(server, short);
  await measureFanOut(server);
  await measureReplay(server, short ? RUNS / 4 : RUNS);
  await server.stop();
  removeFolder(server.folder);
  await measureIdle();
}

async function measureFirstEvent({ url }: MeasuredServer, short: boolean): Promise<void> {
  const turns = await inTurns(() => runScript(script("first-event.ts"), [url, short ? 50 : 150]));
  const [protocolMs, restMs] = [mid(turns, "protocolMs"), mid(turns, "restMs")];
  const measured = `${protocolMs.toFixed(2)} / ${restMs.toFixed(2)} ms`;
  note("first event of a run / of a REST stream", measured, protocolMs / restMs, "at most 1.5");
}

async function command({ url }: MeasuredServer, threadId: string, method: string, params: object): Promise<void> {
  await text(await post(`${url}/threads/${threadId}/commands`, { id: 1, method, params }));
}

async function measureFanOut(server: MeasuredServer): Promise<void> {
  const turns = await inTurns(() => fanOut(server));
  const [rate, bareRate] = [mid(turns, "rate"), mid(turns, "bareRate")];
  const measured = `${Math.round(rate / 1000)} / ${Math.round(bareRate / 1000)} thousand a second`;
  note(`${DELTAS} deltas to ${READERS} readers / bare writer`, measured, rate / bareRate, "at least 0.5");
  const [cpu, bareCpu] = [mid(turns, "cpu"), mid(turns, "bareCpu")];
  const seconds = `${cpu.toFixed(2)} / ${bareCpu.toFixed(2)} CPU seconds`;
  note("the same, CPU of the run and its readers", seconds, cpu / bareCpu, "reported");
}

/** Both sides once: the run with its readers, and the same bytes from a bare writer. */
async function fanOut(server: MeasuredServer): Promise<Record<"rate" | "bareRate" | "cpu" | "bareCpu", number>> {
  const folder = temporaryFolder();
  const gate = join(folder, "gate");
  const threadId = randomUUID();
  const params = { assistant_id: "speaker", input: { gate, events: DELTAS } };
  await command(server, threadId, "run.start", params);
  const stream = `${server.url}/threads/${threadId}/stream/events`;
  const recorded = post(stream, { channels: ["lifecycle", "messages"] }).then(record);
  const before = await server.metrics();
  const served = await runScript(script("readers.ts"), [stream, READERS, gate]);
  const cpu = (await server.metrics()).cpuSeconds - before.cpuSeconds;
  const body = join(folder, "body");
  writeFileSync(body, await recorded);
  const floor = spawn(process.execPath, [script("floor.ts"), body], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(createInterface({ input: floor.stdout }), "line")) as [string];
  const url = `http://127.0.0.1:${port}`;
  const bare = await runScript(script("readers.ts"), [url, READERS, `${url}/gate`]);
  const bareCpu = cpuSecondsOfTree(floor.pid ?? 0) ?? Number.NaN;
  floor.kill();
  removeFolder(folder);
  const computeRate = (result: Record<string, number>): number =>
    (result["deliveries"] ?? 0) / (result["seconds"] ?? 0);
  return { rate: computeRate(served), bareRate: computeRate(bare), cpu, bareCpu };
}

/** The text of a stream up to the end of its run. */
async function record(response: Awaited<ReturnType<typeof post>>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  response.on("data", (piece: Buffer) => pieces.push(piece));
  await readTo(response, /^synth:.*:(completed|failed):/);
  return Buffer.concat(pieces);
}

/** Replays and reads take turns; the first ones warm up. */
const ROUNDS = 20;

async function measureReplay(server: MeasuredServer, runs: number): Promise<void> {
  const threadId = randomUUID();
  const stream = `${server.url}/threads/${threadId}/stream/events`;
  await makeRuns(server, threadId, runs);
  const filter = { channels: ["lifecycle", "input", "messages", "tools", "custom", "tasks", "updates"], since: 0 };
  const db = new DatabaseSync(join(server.folder, "holdpoint.db"), { readOnly: true });
  const newest = db.prepare("SELECT run_id FROM events WHERE thread_id = ? ORDER BY seq DESC LIMIT 1").get(threadId);
  const last = new RegExp(`synth:${String(newest?.["run_id"])}:completed`);
  const replays: number[] = [];
  const reads: number[] = [];
  let [replayCpu, readCpu] = [0, 0];
  let rows = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const cpuBefore = (await server.metrics()).cpuSeconds;
    const startedAt = performance.now();
    await readTo(await post(stream, filter), last);
    replays.push(performance.now() - startedAt);
    replayCpu += (await server.metrics()).cpuSeconds - cpuBefore;
    const readAt = performance.now();
    const readBefore = cpuSeconds();
    rows = readRows(db, threadId);
    reads.push(performance.now() - readAt);
    readCpu += cpuSeconds() - readBefore;
  }
  db.close();
  const [replayMs, readMs] = [median(replays), median(reads)];
  const measured = `${replayMs.toFixed(0)} / ${readMs.toFixed(0)} ms, ${rows} rows`;
  note(`replay of ${runs} runs / reading their rows`, measured, replayMs / readMs, "at most 3");
  const cpu = `${((replayCpu / ROUNDS) * 1000).toFixed(0)} / ${((readCpu / ROUNDS) * 1000).toFixed(0)} CPU ms a round`;
  note("the same, CPU of the server / of the reads", cpu, replayCpu / readCpu, "reported");
}

async function makeRuns(server: MeasuredServer, threadId: string, runs: number): Promise<void> {
  const gate = join(server.folder, "holdpoint.db"); // is there
  const filter = { channels: ["lifecycle"], since: 2 ** 52 };
  for (let run = 0; run < runs; run++) {
    const stream = await post(`${server.url}/threads/${threadId}/stream/events`, filter);
    await command(server, threadId, "run.start", { assistant_id: "speaker", input: { gate, events: 20 } });
    await readTo(stream, END);
  }
  await wait(1000); // the compaction follows at once
}

/** @returns the number of rows */
function readRows(db: DatabaseSync, threadId: string): number {
  const one = db.prepare("SELECT * FROM events WHERE thread_id = ? AND seq > ? ORDER BY seq LIMIT 1");
  for (let seq = 0, rows = 0; ; rows++) {
    const row = one.get(threadId, seq);
    if (row === undefined) return rows;
    seq = Number(row["seq"]);
  }
}

/** Voluntary context switches of a process so far: it wakes up as often. */
function wakeUps(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const tasks = /^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1];
  return Number(tasks);
}

const QUIET_MS = 2500;

async function measureIdle(): Promise<void> {
  const server = await startServer();
  const { thread_id: threadId } = JSON.parse(await text(await post(`${server.url}/threads`, {}))) as {
    readonly thread_id: string;
  };
  await wait(2000);
  const quiet = async (): Promise<number> => {
    const before = wakeUps(server.pid);
    await wait(QUIET_MS);
    return ((wakeUps(server.pid) - before) / QUIET_MS) * 1000;
  };
  const [without, memory] = [await quiet(), (await server.metrics()).residentBytes];
  const threads = [threadId];
  for (let more = 1; more < IDLE_READERS / 100; more++) {
    const made = JSON.parse(await text(await post(`${server.url}/threads`, {}))) as { readonly thread_id: string };
    threads.push(made.thread_id);
  }
  const filter = { channels: ["values", "lifecycle", "messages", "input"] };
  const open = await Promise.all(
    Array.from({ length: IDLE_READERS }, (_, at) =>
      post(`${server.url}/threads/${threads[at % threads.length]}/stream/events`, filter),
    ),
  );
  for (const one of open) one.resume();
  const heartbeats = new Promise((resolve) => open.at(-1)?.once("data", () => open.at(-1)?.once("data", resolve)));
  await heartbeats;
  await wait(500); // those of the others
  const withReaders = await quiet();
  const grown = (await server.metrics()).residentBytes - memory;
  for (const one of open) one.destroy();
  await server.stop();
  removeFolder(server.folder);
  const rates = `${withReaders.toFixed(1)} / ${without.toFixed(1)} a second`;
  note(`wake-ups with ${IDLE_READERS} idle readers / without`, rates, withReaders / without, "as many");
  const megabytes = `${(grown / 1e6).toFixed(0)} MB`;
  note(`memory of ${IDLE_READERS} idle readers`, megabytes, grown / IDLE_READERS / 1000, "KB each, reported");
}
