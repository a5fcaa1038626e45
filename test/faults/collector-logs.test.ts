// Log records in durable mode: an acknowledged record survives kill -9 at any moment, before and after its span, and a
// record that waits for its span waits on after a restart.
// HOLDPOINT_FAULTS=full: 2,000 acknowledged records and 20 kills.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { startBackend, type AcceptedRun } from "../fakes/backend.ts";
import { protobufRequest, buildSpan, type TestSpan } from "../fakes/otlp.ts";
import { protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";
import { startCollectorProcess } from "../fakes/processes.ts";
import { uuidOfTrace } from "@holdpoint/collector/assemble/dotted-order.ts";
import { IS_LONG } from "../harness/long.ts";

const full = process.env["HOLDPOINT_FAULTS"] === "full";
const KILLS = full ? 20 : IS_LONG ? 3 : 1;
const RECORDS = full ? 2000 : IS_LONG ? 240 : 80;
const KILL_POINTS = [
  "write before 4",
  "write after 5",
  "sync before 6",
  "sync after 7",
  "write after 30",
  "unlink before 1",
];

function buildCallSpan(trace: number): TestSpan {
  return buildSpan(trace, 0, undefined, { name: "chat", attributes: { "gen_ai.operation.name": "chat" } });
}

async function post(url: string, path: string, body: Buffer): Promise<boolean> {
  try {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { "content-type": "application/x-protobuf", "x-api-key": "k" },
    });
    return response.status === 200;
  } catch {
    return false; // killed: maybe taken, maybe not
  }
}

const sendSpan = (url: string, trace: number): Promise<boolean> =>
  post(url, "/v1/traces", protobufRequest([buildCallSpan(trace)]));
const sendRecord = (url: string, trace: number): Promise<boolean> =>
  post(
    url,
    "/v1/logs",
    protobufLogs([
      buildRecord(buildCallSpan(trace), "gen_ai.user.message", { body: { content: buildQuestionText(trace) } }),
    ]),
  );
const buildQuestionText = (trace: number): string => `question <${trace}>`;

test(`${RECORDS} acknowledged records, ${KILLS} kills: each one arrives`, async () => {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-logs-`);
  const backend = await startBackend();
  backend.script = () => ({ status: 503 });
  const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: dir, retryCooldownMs: "20", SPAN_TTL: "1500" };
  const acked = new Set<number>();
  let next = 0;
  for (let kills = 0; kills < KILLS || acked.size < RECORDS; kills++) {
    const point = KILL_POINTS[kills % KILL_POINTS.length] ?? "";
    const collector = await startCollectorProcess(kills % 2 === 0 ? env : { ...env, KILL_AT: point });
    if (collector === null) continue; // died while it recovered
    const goal = acked.size + Math.ceil(RECORDS / KILLS);
    const senders = Array.from({ length: 6 }, async () => {
      for (;;) {
        const trace = next++;
        // A third before its span, a third after it, a third without it.
        if (trace % 3 === 0) await sendSpan(collector.url, trace);
        if (!(await sendRecord(collector.url, trace))) return;
        acked.add(trace);
        if (trace % 3 === 1) await sendSpan(collector.url, trace);
        if (acked.size >= goal) collector.child.kill("SIGKILL");
      }
    });
    await Promise.all(senders);
    await collector.ended;
  }
  backend.script = () => ({ status: 202 });
  const last = (await startCollectorProcess(env)) ?? assert.fail("did not start");
  const missing = (): number[] => {
    const all = backend.runs.map(({ text }) => text).join("\n");
    return [...acked].filter((trace) => !all.includes(buildQuestionText(trace)));
  };
  await backend.when(() => missing().length === 0);
  const metrics = await (await fetch(`${last.url}/metrics`)).text();
  assert.match(metrics, /otelcol_exporter_dropped_spans_total\{reason="unreadable"\} 0/);
  last.child.kill("SIGTERM");
  assert.equal(await last.ended, 0);
  await backend.close();
  await rm(dir, { recursive: true });
  assert.deepEqual(backend.violations, []);
  assert.ok(acked.size >= RECORDS);
});

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test(`a record that waits when the collector ends (${signal}) joins its span after the restart`, async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-logs-`);
    const backend = await startBackend();
    const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: dir };
    const first = (await startCollectorProcess(env)) ?? assert.fail();
    assert.ok(await sendRecord(first.url, 1));
    first.child.kill(signal);
    await first.ended;
    assert.equal(backend.runs.length, 0);
    const second = (await startCollectorProcess(env)) ?? assert.fail();
    assert.ok(await sendSpan(second.url, 1));
    await backend.whenRuns(1);
    second.child.kill("SIGTERM");
    assert.equal(await second.ended, 0);
    await backend.close();
    await rm(dir, { recursive: true });
    const [run] = backend.runs as [AcceptedRun];
    assert.deepEqual(run.inputs, { messages: [{ role: "user", content: buildQuestionText(1) }] });
    assert.match(
      second.log(),
      /"received":1,"added":0,"delivered":1,"pending":0,.*"log_records":1,"log_records_joined":1/,
    );
  });

/** What was sent before the kill, what its sender repeats after it, and how many runs the trace has. */
const REPEATS: readonly (readonly [string, readonly ("span" | "record")[], readonly ("span" | "record")[], number])[] =
  [
    ["a record that came before its span", ["record", "span"], ["record"], 1],
    ["a record that came after its span", ["span", "record"], ["record"], 1],
    ["a span with its record", ["span", "record"], ["span", "record"], 1],
    ["a record with its span", ["record", "span"], ["record", "span"], 1],
    ["a record whose span never came, below an added root", ["record"], ["record"], 2],
    ["a record whose span comes now", ["record"], ["record", "span"], 2],
  ];

test("what joined before a kill stays a repeat after it", async (t) => {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-logs-`);
  t.after(() => rm(dir, { recursive: true }));
  const backend = await startBackend();
  const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: dir, SPAN_TTL: "1500" };
  const send = { span: sendSpan, record: sendRecord };
  const [firstTrace, lastTrace] = [70_000, 80_000];
  const batch = protobufRequest([0, 1, 2].map((at) => buildSpan(90_000, at, at === 0 ? undefined : at - 1)));
  const listRuns = (trace: number): readonly AcceptedRun[] =>
    backend.runs.filter(({ main }) => main["trace_id"] === uuidOfTrace(buildCallSpan(trace).traceId));
  const hasText = (trace: number): boolean =>
    listRuns(trace).some(({ text }) => text.includes(buildQuestionText(trace)));

  const first = (await startCollectorProcess(env)) ?? assert.fail("did not start");
  for (const [at, [, sent]] of REPEATS.entries())
    for (const one of sent) assert.ok(await send[one](first.url, firstTrace + at));
  assert.ok(await post(first.url, "/v1/traces", batch));
  await backend.when(() => REPEATS.every((_, at) => hasText(firstTrace + at)) && listRuns(90_000).length === 3);
  first.child.kill("SIGKILL");
  await first.ended;
  const second = (await startCollectorProcess(env)) ?? assert.fail("did not start");
  for (const [at, [, , repeated]] of REPEATS.entries())
    for (const one of repeated) assert.ok(await send[one](second.url, firstTrace + at));
  assert.ok(await post(second.url, "/v1/traces", batch));
  assert.ok(await sendRecord(second.url, lastTrace)); // waits as long as a repeat would
  await backend.when(() => hasText(lastTrace));
  second.child.kill("SIGTERM");
  assert.equal(await second.ended, 0);
  await backend.close();
  for (const [at, [what, , , runs]] of REPEATS.entries()) {
    const newest = new Map(listRuns(firstTrace + at).map((one) => [one.id, one]));
    assert.equal(newest.size, runs, what);
    const withText = [...newest.values()].filter(({ text }) => text.includes(buildQuestionText(firstTrace + at)));
    assert.equal(withText.length, 1, `${what}: its text is in one run`);
  }
  assert.equal(listRuns(90_000).length, 3, "plain spans of a repeated batch are uploaded once");
  assert.deepEqual(backend.violations, []);
});
