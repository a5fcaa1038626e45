// Trace benchmark: a trace of 10,000 runs over HTTP, against reading its rows from SQLite in the same process.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { changesOfBatch } from "@holdpoint/collector/traces/run-change.ts";
import { createTraceServer } from "@holdpoint/collector/traces/server.ts";
import { runRing } from "../test/fakes/keys.ts";
import { median } from "./measure.ts";

const RUNS = 10_000;
const BATCH = 500;
const ROUNDS = 15;
const TIMES_MAX = 3;

const uuid = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
const segment = (n: number): string => `20260101T000000${String(n).padStart(6, "0")}Z${uuid(n)}`;

function run(n: number): Record<string, unknown> {
  return {
    id: uuid(n),
    trace_id: uuid(0),
    dotted_order: n === 0 ? segment(0) : `${segment(0)}.${segment(n)}`,
    ...(n === 0 ? {} : { parent_run_id: uuid(0) }),
    name: `step ${n}`,
    run_type: n % 3 === 0 ? "chain" : "llm",
    session_name: "bench",
    start_time: "2026-01-01T00:00:00.000000Z",
    end_time: "2026-01-01T00:00:01.000000Z",
    inputs: { messages: [{ role: "user", content: `question ${n} `.repeat(20) }] },
    outputs: { messages: [{ role: "assistant", content: `answer ${n} `.repeat(40) }] },
    extra: { metadata: { ls_model_name: "model", usage_metadata: { input_tokens: 10, output_tokens: 20 } } },
  };
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export async function benchTraces(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
  const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
  const config = {
    allowedHosts: null,
    tracePort: 0,
    dataDir: folder,
    runsMax: 10 * RUNS,
    traceBytesMax: 2 ** 30,
    traceAgeMax: 2 ** 40,
    search: true,
  };
  const server = createTraceServer(config, { clock: systemClock, log, ring: runRing, version: "bench" });
  await server.start();
  try {
    const written = await timed(async () => {
      for (let from = 0; from < RUNS; from += BATCH) {
        const post = Array.from({ length: BATCH }, (_, at) => run(from + at));
        await server.store.write(changesOfBatch({ post }));
      }
    });
    const url = `http://127.0.0.1:${server.address().port}/traces/${uuid(0)}`;
    let bytes = 0;
    const answers: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      answers.push(await timed(async () => (bytes = (await (await fetch(url)).arrayBuffer()).byteLength)));
    await server.stop();
    const db = new DatabaseSync(join(folder, "traces.db"));
    const select = db.prepare("SELECT summary FROM runs WHERE trace_id = ? ORDER BY dotted_order");
    const reads: number[] = [];
    for (let round = 0; round < ROUNDS; round++) reads.push(await timed(() => select.all(uuid(0))));
    db.close();
    const times = median(answers) / median(reads);
    console.log(`written      ${(RUNS / (written / 1000)).toFixed(0)} runs/s in uploads of ${BATCH}`);
    console.log(`rows read    ${median(reads).toFixed(1)} ms`);
    console.log(`answered     ${median(answers).toFixed(1)} ms, ${(bytes / 1e6).toFixed(1)} MB`);
    console.log(`ratio        ${times.toFixed(2)} (asked: at most ${TIMES_MAX})`);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
