// The collector against the floor (the least work of any proxy on Node), in one run: `npm run bench -- collector`.
// Sink and load on one core, the target on the other; figures per CPU-second of the target. SECONDS (6) is the length
// of one measurement, a soak lasts ten times as long; ROUNDS (2) is the number of repetitions, and the best counts. The
// last line has the ratios, each with its target. `npm run bench -- collector soak dead` measures these parts only.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

interface Measured {
  readonly spansPerCpuS: number;
  readonly spansPerS: number;
  readonly hwmMB: number;
  readonly wireMB: number;
  readonly level3MB: number;
  readonly lost: number;
  readonly p50: number;
  readonly p99: number;
  readonly samples?: readonly number[];
}

const NOTHING: Measured = { spansPerCpuS: 0, spansPerS: 0, hwmMB: 0, wireMB: 0, level3MB: 0, lost: 0, p50: 0, p99: 0 };

const dir = fileURLToPath(new URL("collector/", import.meta.url));
const entry = fileURLToPath(new URL("../packages/holdpoint/src/main.ts", import.meta.url));
const seconds = Number(process.env["SECONDS"] ?? "6");
const rounds = Number(process.env["ROUNDS"] ?? "2");
const FLOOR = `env PORT={PORT} SINK={SINK} node ${dir}floor.mjs`;
/** A queue as large as the floor's: with a smaller one the sink's core, not the collector, would be measured. */
const LARGE_QUEUE = "MAX_QUEUE_BYTES=268435456";
const SMALL_QUEUE = "MAX_QUEUE_BYTES=16777216 SHUTDOWN_TIMEOUT_MS=3000";

function collector(env = ""): string {
  return `env HTTP_PORT={PORT} TRACING_ENDPOINT={SINK} ${env} ${entry} collector`;
}

async function measure(label: string, command: string, options: readonly string[]): Promise<Measured> {
  const child = spawn(process.execPath, [`${dir}run.mjs`, label, command, `SECONDS=${seconds}`, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  for await (const chunk of child.stdout) out += String(chunk);
  return JSON.parse(out) as Measured;
}

function best(all: readonly Measured[]): Measured {
  return all.toSorted((a, b) => b.spansPerCpuS - a.spansPerCpuS)[0] ?? NOTHING;
}

const ratios: string[] = [];
let missing = 0;

function row(load: string, who: string, one: Measured): void {
  console.log(`| ${[load, who, one.spansPerCpuS, one.spansPerS, one.hwmMB, one.p50, one.p99, one.lost].join(" | ")} |`);
}

const LOADS: readonly (readonly [name: string, asked: number, options: readonly string[]])[] = [
  ["protobuf, 64 a request", 0.68, ["PER=64"]],
  ["protobuf, 1 a request", 0.6, ["PER=1"]],
  ["gzipped JSON, 64 a request", 0.65, ["PER=64", "FORMAT=json", "GZIP=1"]],
];

/** In turns. @returns the best of both, and the spans that the collector lost */
async function compareWithFloor(
  options: readonly string[],
): Promise<{ readonly floor: Measured; readonly own: Measured; readonly lost: number }> {
  const floors: Measured[] = [];
  const all: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    floors.push(await measure("floor", FLOOR, options));
    all.push(await measure("collector", collector(LARGE_QUEUE), options));
  }
  return { floor: best(floors), own: best(all), lost: all.reduce((sum, { lost }) => sum + lost, 0) };
}

/** Spans a CPU-second of the floor and of the collector, for the first loads. */
export async function measureFloors(
  loads: number,
): Promise<readonly (readonly [load: string, floor: number, own: number])[]> {
  const rows: (readonly [string, number, number])[] = [];
  for (const [name, , options] of LOADS.slice(0, loads)) {
    const { floor, own } = await compareWithFloor(options);
    rows.push([name, floor.spansPerCpuS, own.spansPerCpuS]);
  }
  return rows;
}

/**
 * Returns the collector's best result of the first load, as the base of later comparisons; without `whole`, only that
 * load.
 */
async function againstTheFloor(whole: boolean): Promise<Measured> {
  let first: Measured | null = null;
  for (const [name, asked, options] of whole ? LOADS : LOADS.slice(0, 1)) {
    const { floor, own, lost } = await compareWithFloor(options);
    row(name, "floor", floor);
    row(name, "collector, memory", own);
    missing += lost;
    ratios.push(`${name}: ${(own.spansPerCpuS / floor.spansPerCpuS).toFixed(2)} of the floor (asked ${asked})`);
    first ??= own;
  }
  return first ?? NOTHING;
}

/** In turns: both modes have the same share of other load. @returns spans a CPU-second, the other mode's by the plain one's */
async function compareModes(name: string, envs: readonly [plain: string, other: string]): Promise<number> {
  const plain: Measured[] = [];
  const other: Measured[] = [];
  for (let round = 0; round < rounds; round++)
    for (const [all, env] of [
      [plain, envs[0]],
      [other, envs[1]],
    ] as const) {
      const spool = mkdtempSync(`${tmpdir()}/holdpoint-bench-`);
      all.push(await measure(name, collector(`${LARGE_QUEUE} ${env.replace("{SPOOL}", spool)}`), ["PER=64"]));
      rmSync(spool, { recursive: true });
    }
  row("protobuf, 64 a request", name, best(other));
  missing += other.reduce((sum, { lost }) => sum + lost, 0);
  return best(other).spansPerCpuS / best(plain).spansPerCpuS;
}

async function durable(): Promise<void> {
  const ratio = await compareModes("collector, durable", ["", "SPOOL_DIR={SPOOL}"]);
  ratios.push(`durable: ${ratio.toFixed(2)} of memory mode (asked 0.8)`);
}

async function encrypted(): Promise<void> {
  const keys = `HOLDPOINT_ENCRYPTION_KEYS=bench:${randomBytes(32).toString("base64")}`;
  const ratio = await compareModes("collector, durable, with keys", ["SPOOL_DIR={SPOOL}", `SPOOL_DIR={SPOOL} ${keys}`]);
  ratios.push(`encryption keys: ${ratio.toFixed(2)} of durable mode without (asked 0.9)`);
}

/** Ten rules of the usual kinds; the load has nothing that they find. */
const REDACT_RULES = [
  { name: "mail", detect: ["email"] },
  { name: "card", detect: ["card"] },
  { name: "token", detect: ["token"], action: "hash" },
  { name: "employee", match: "EMP-[0-9]{6}" },
  { name: "social", match: "\\b[0-9]{3}-[0-9]{2}-[0-9]{4}\\b" },
  { name: "iban", match: "\\bDE[0-9]{2}(?: ?[0-9]{4}){4}" },
  { name: "phone", match: "\\+49[ 0-9-]{6,16}" },
  { name: "secrets", attributes: ["secret.*", "**/password"], action: "drop" },
  { name: "headers", attributes: ["http.request.header.authorization"] },
  { name: "user", attributes: ["user.email"], action: "hash" },
];

async function redaction(): Promise<void> {
  const dirOfRules = mkdtempSync(`${tmpdir()}/holdpoint-bench-`);
  const file = `${dirOfRules}/rules.json`;
  writeFileSync(file, JSON.stringify({ redact: REDACT_RULES }));
  for (const [name, , options] of LOADS.filter(([, , given]) => given.includes("PER=64"))) {
    const floors: Measured[] = [];
    const ours: Measured[] = [];
    for (let round = 0; round < rounds; round++) {
      floors.push(await measure("floor", FLOOR, options));
      const command = collector(`${LARGE_QUEUE} RULES_FILE=${file} REDACT_HASH_KEY=key-of-the-benchmark`);
      ours.push(await measure("ten rules", command, options));
    }
    row(name, "floor", best(floors));
    row(name, "collector, ten redaction rules", best(ours));
    missing += ours.reduce((sum, { lost }) => sum + lost, 0);
    const ratio = (best(ours).spansPerCpuS / best(floors).spansPerCpuS).toFixed(2);
    ratios.push(`${name}, ten redaction rules: ${ratio} of the floor (asked 0.3)`);
  }
  rmSync(dirOfRules, { recursive: true });
}

async function uploadedBytes(): Promise<void> {
  const one = await measure("level 3", collector(), ["PER=64", "LEVEL3=1", "RATE=4000"]);
  row("protobuf, 64 a request, 4,000 spans a second", "collector, memory", one);
  missing += one.lost;
  ratios.push(`uploaded bytes: ${(one.wireMB / one.level3MB).toFixed(2)} of zstd level 3 (asked 1.15)`);
}

async function latency(memory: Measured): Promise<void> {
  const options = ["PER=64", `RATE=${Math.round(memory.spansPerS / 2)}`];
  const floors: Measured[] = [];
  const ours: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    floors.push(await measure("floor", FLOOR, options));
    ours.push(await measure("collector", collector(), options));
  }
  const quickest = (all: readonly Measured[]): Measured => all.toSorted((a, b) => a.p99 - b.p99)[0] ?? NOTHING;
  row("half of the maximum load", "floor", quickest(floors));
  row("half of the maximum load", "collector, memory", quickest(ours));
  missing += ours.reduce((sum, { lost }) => sum + lost, 0);
  ratios.push(`p99 at half load: ${(quickest(ours).p99 / quickest(floors).p99).toFixed(2)} of the floor's (asked 3)`);
}

/** `LOGS=1`: the content of most model calls is in log records, which join their spans. */
async function soak(): Promise<void> {
  for (const [name, options] of [
    ["full load", []],
    ["full load with log records", ["LOGS=1", "RESEND=1"]],
  ] as const) {
    const load = `${seconds * 10} s of ${name}`;
    const one = await measure("soak", collector(), ["PER=64", "SAMPLE=1", `SECONDS=${seconds * 10}`, ...options]);
    // A record whose span is out of reach becomes a run: the sink then has more runs than the load has spans.
    row(load, "collector, memory", { ...one, lost: Math.max(0, one.lost) });
    missing += Math.max(0, one.lost);
    if (one.lost < 0) ratios.push(`${load}: ${-one.lost} runs more than spans`);
    const samples = one.samples ?? [];
    const growth = estimateGrowth(samples.slice(samples.length >> 1));
    ratios.push(
      `${load}: ${one.hwmMB} MB (asked 352), ${(growth * 100).toFixed(1)} % growth in the last half (asked 5)`,
    );
  }
}

/** Least squares: the rise of the line through the samples from first to last, as a share of their mean. */
function estimateGrowth(samples: readonly number[]): number {
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  const middle = (samples.length - 1) / 2;
  let covariance = 0;
  let variance = 0;
  for (const [at, value] of samples.entries()) {
    covariance += (at - middle) * (value - mean);
    variance += (at - middle) ** 2;
  }
  return ((covariance / variance) * (samples.length - 1)) / mean;
}

async function deadBackends(): Promise<void> {
  for (const [name, mode] of [
    ["answers 503", '{"status":503}'],
    ["hangs", '{"hang":true}'],
  ] as const) {
    const one = await measure(name, collector(SMALL_QUEUE), ["PER=64", `MODE=${mode}`, "DRAIN=1"]);
    row(`backend ${name}, MAX_QUEUE_BYTES=16777216`, "collector, memory", { ...one, lost: 0 });
    ratios.push(`backend ${name}: ${one.hwmMB} MB (asked 256)`);
  }
}

/** Here p50 and p99 are those of GET /live, asked every 5 ms: the delay of the event loop. */
async function bigBodies(): Promise<void> {
  const one = await measure("big", collector(), ["PER=64", "LOAD=big.mjs"]);
  row("one body of 20 MB a second; ms of GET /live", "collector, memory", one);
  missing += one.lost;
  ratios.push(`loop with 20 MB bodies: p99 ${one.p99} ms (asked 50)`);
}

const PARTS: Readonly<Record<string, (memory: () => Promise<Measured>) => Promise<unknown>>> = {
  floor: (memory) => memory(),
  durable,
  encrypted,
  redaction,
  bytes: uploadedBytes,
  latency: async (memory) => latency(await memory()),
  big: bigBodies,
  dead: deadBackends,
  soak,
};

/** `parts`: which of PARTS to measure; none: all. */
export async function benchCollector(parts: readonly string[] = []): Promise<void> {
  console.log(
    "| load | target | spans per CPU-second | spans per second | high water MB | p50 ms | p99 ms | missing |",
  );
  console.log("|---|---|---|---|---|---|---|---|");
  let measured: Promise<Measured> | null = null;
  const memory = (): Promise<Measured> => (measured ??= againstTheFloor(parts.length === 0 || parts.includes("floor")));
  for (const [name, part] of Object.entries(PARTS)) if (parts.length === 0 || parts.includes(name)) await part(memory);
  ratios.push(`acknowledged and missing: ${missing} (asked 0)`);
  console.log(ratios.join("; "));
}

if (import.meta.main) await benchCollector();
