// Benchmark of waits: how long other calls wait at most while a call looks at many threads.
import { setTimeout } from "node:timers/promises";
import type { MeasuredServer } from "./server.ts";
import type { Note } from "../table.ts";

type Call = readonly [what: string, path: string, body?: object];

const NESTED = { deep: { no: 1 } };
const CALLS: readonly Call[] = [
  ["search by values", "/threads/search", { values: { no: 1 }, limit: 10 }],
  ["search by nested metadata", "/threads/search", { metadata: NESTED, limit: 10 }],
  ["far page", "/threads/search", { limit: 10, offset: 1_000_000, sort_by: "updated_at" }],
  ["count", "/threads/count", { metadata: NESTED }],
  ["inbox by nested metadata", `/inbox?metadata=${encodeURIComponent(JSON.stringify(NESTED))}`],
  ["inbox count", "/inbox/count"],
  ["facets", "/inbox/facets"],
  ["audit by words", "/audit?text=nothing"],
  ["check of the audit", "/audit/verify"],
  ["export of the audit", "/audit?format=csv"],
];
const LIMIT_MS = 100;
const PROBE_EVERY_MS = 2;

export async function measureWaits(note: Note, server: MeasuredServer, threads: number): Promise<void> {
  await call(server, "/inbox?limit=1"); // its thread starts
  for (const [what, path, body] of CALLS) {
    const probe = { isOn: true, longestMs: 0 };
    const probing = probeWhile(server, probe);
    const startedAt = performance.now();
    await call(server, path, body);
    const tookMs = performance.now() - startedAt;
    probe.isOn = false;
    await probing;
    note({
      what: `others wait behind: ${what}, ${threads} paused`,
      measured: `${probe.longestMs.toFixed(0)} ms at most, of ${tookMs.toFixed(0)}`,
      ratio: probe.longestMs / LIMIT_MS,
      asked: `at most ${LIMIT_MS} ms`,
      limit: 1,
    });
  }
}

async function call({ url }: MeasuredServer, path: string, body?: object): Promise<void> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const reply = await fetch(`${url}${path}`, { ...init, headers: { "content-type": "application/json" } });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text.slice(0, 200)}`);
}

async function probeWhile(server: MeasuredServer, probe: { isOn: boolean; longestMs: number }): Promise<void> {
  while (probe.isOn) {
    const startedAt = performance.now();
    await call(server, "/ok");
    probe.longestMs = Math.max(probe.longestMs, performance.now() - startedAt);
    await setTimeout(PROBE_EVERY_MS);
  }
}
