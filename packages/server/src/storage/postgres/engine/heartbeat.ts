// Heartbeat: a thread with its own connection that keeps the worker's row alive.
// Invariants:
//   - A beat has the database's time. The lease lasts one lease time from the moment before a successful beat was sent,
//     on a clock that also runs while the process is stopped.
//   - An expired id, or one without a row, never gets a beat again.
//   - If the main event loop stands still for `stuckMs` while this thread runs, the process ends.
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { Client } from "pg";
import { createDirectClient } from "../client/database-client.ts";
import type { HeartbeatData, HeartbeatNews } from "./lease.ts";

const { address, workerId: firstId, everyMs, leaseMs, stuckMs, shared } = workerData as HeartbeatData;
const clocks = new BigInt64Array(shared);
const UNTIL = 0;
const TURNS = 1;

let workerId: string | null = firstId;
let until = process.hrtime.bigint() + BigInt(leaseMs) * 1_000_000n;
const connection: { client: Client | null } = { client: null };
const stopping = new AbortController();
let turns = -1n;
let stuckFor = 0;
/** The worker has a row again, without a beat so far. */
let isNew = false;
const report = (news: HeartbeatNews): void => parentPort?.postMessage(news, []);

parentPort?.on("message", (message: { readonly workerId: string } | "stop") => {
  if (message === "stop") {
    stopping.abort();
    return;
  }
  ({ workerId } = message);
  isNew = true;
  until = process.hrtime.bigint() + BigInt(leaseMs) * 1_000_000n;
});

while (!stopping.signal.aborted) {
  if (workerId !== null) await beat(workerId);
  watchMain();
  await sleep(everyMs);
}
await connection.client?.end().catch(() => undefined);
process.exit(0); // of this thread

async function beat(id: string): Promise<void> {
  const sentAt = process.hrtime.bigint();
  if (sentAt >= until) return lose(id);
  try {
    connection.client ??= await connect();
    const text = "UPDATE holdpoint.workers SET beat_at = clock_timestamp() WHERE worker_id = $1";
    const { rowCount } = await connection.client.query({ name: "beat", text, values: [id] });
    if (rowCount !== 1) return lose(id);
    if (process.hrtime.bigint() >= until) return lose(id); // too late to be sure
    until = sentAt + BigInt(leaseMs) * 1_000_000n;
    Atomics.store(clocks, UNTIL, until);
    if (isNew) report({ held: id });
    isNew = false;
  } catch {
    const broken = connection.client;
    connection.client = null;
    broken?.end().catch(() => undefined);
  }
}

function lose(id: string): void {
  if (workerId !== id) return; // a new one exists already
  workerId = null;
  Atomics.store(clocks, UNTIL, 0n);
  report({ lost: id });
}

async function connect(): Promise<Client> {
  const made = createDirectClient(address, {
    application_name: "holdpoint heartbeat",
    connectionTimeoutMillis: 2000,
    query_timeout: 3000,
    options: "-c synchronous_commit=off",
  });
  made.on("error", () => {
    if (connection.client === made) connection.client = null;
  });
  await made.connect();
  return made;
}

function watchMain(): void {
  const now = Atomics.load(clocks, TURNS);
  stuckFor = now === turns ? stuckFor + everyMs : 0;
  turns = now;
  if (stuckFor < stuckMs) return;
  process.stderr.write(`${JSON.stringify({ level: "error", event: "main_loop_stuck", for_ms: stuckFor })}\n`);
  process.kill(process.pid, "SIGKILL");
}
