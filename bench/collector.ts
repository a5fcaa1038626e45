// The collector against the floor, in one run: `node bench/run.ts collector`. Sink and load on one core, the target on the
// other; figures per CPU-second of the target. SECONDS (6) and ROUNDS (2) make it longer; the last line holds the ratios.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

interface Measured {
  readonly spansPerCpuS: number;
  readonly spansPerS: number;
  readonly hwmMB: number;
  readonly wireMB: number;
  readonly lost: number;
  readonly bad: number;
  readonly p99: number;
}

const dir = fileURLToPath(new URL("collector/", import.meta.url));
const entry = fileURLToPath(new URL("../test/fakes/collector-process.ts", import.meta.url));
const seconds = process.env["SECONDS"] ?? "6";
const rounds = Number(process.env["ROUNDS"] ?? "2");
const FLOOR = `env PORT={PORT} SINK={SINK} node ${dir}floor.mjs`;
/** A queue as large as the floor's: with a smaller one the sink's core, not the collector, would be measured. */
const QUEUE = "MAX_QUEUE_BYTES=268435456";

function collector(env: string): string {
  return `env HTTP_PORT={PORT} TRACING_ENDPOINT={SINK} ${env} node ${entry}`;
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
  const sorted = all.toSorted((a, b) => b.spansPerCpuS - a.spansPerCpuS);
  return sorted[0] ?? { spansPerCpuS: 0, spansPerS: 0, hwmMB: 0, wireMB: 0, lost: 0, bad: 0, p99: 0 };
}

const LOADS: readonly (readonly [name: string, options: readonly string[]])[] = [
  ["protobuf, 64 a request", ["PER=64"]],
  ["protobuf, 1 a request", ["PER=1"]],
  ["gzipped JSON, 64 a request", ["PER=64", "FORMAT=json", "GZIP=1"]],
];

const ratios: string[] = [];
const row = (name: string, who: string, one: Measured): void => {
  const cells = [name, who, one.spansPerCpuS, one.spansPerS, one.hwmMB, one.p99, one.lost];
  console.log(`| ${cells.join(" | ")} |`);
};

export async function benchCollector(): Promise<void> {
  console.log("| load | target | spans per CPU-second | spans per second | high water MB | p99 ms | missing |");
  console.log("|---|---|---|---|---|---|---|");
  let memory = 0;
  for (const [name, options] of LOADS) {
    const floors: Measured[] = [];
    const ours: Measured[] = [];
    for (let round = 0; round < rounds; round++) {
      floors.push(await measure("floor", FLOOR, options));
      ours.push(await measure("collector", collector(QUEUE), options));
    }
    row(name, "floor", best(floors));
    row(name, "collector, memory", best(ours));
    if (memory === 0) memory = best(ours).spansPerCpuS;
    ratios.push(`${name}: ${(best(ours).spansPerCpuS / best(floors).spansPerCpuS).toFixed(2)} of the floor`);
  }
  const durable: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    const spool = mkdtempSync(`${tmpdir()}/holdpoint-bench-`);
    durable.push(await measure("durable", collector(`${QUEUE} SPOOL_DIR=${spool}`), ["PER=64"]));
    rmSync(spool, { recursive: true });
  }
  row("protobuf, 64 a request", "collector, durable", best(durable));
  ratios.push(`durable: ${(best(durable).spansPerCpuS / memory).toFixed(2)} of memory mode`);
  for (const [name, mode] of [
    ["503", '{"status":503}'],
    ["hanging", '{"hang":true}'],
  ] as const) {
    const one = await measure(name, collector("MAX_QUEUE_BYTES=16777216 SHUTDOWN_TIMEOUT_MS=3000"), [
      "PER=64",
      `MODE=${mode}`,
      "DRAIN=1",
    ]);
    row(`backend ${name}, MAX_QUEUE_BYTES=16 MiB`, "collector, memory", one);
    ratios.push(`backend ${name}: ${one.hwmMB} MB`);
  }
  console.log(ratios.join("; "));
}

if (import.meta.main) await benchCollector();
