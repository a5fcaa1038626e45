// The collector with worker threads: crashes of a thread, and one of everything for all threads.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, describe, test, type TestContext } from "node:test";
import { pendingOf, sumOf } from "../../src/collector/shared/span-accounting.ts";
import { type FakeBackend, startBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector, when } from "../fakes/collector.ts";
import { protobufRequest, spanOf, type TestSpan } from "../fakes/otlp.ts";

const ENTRY = new URL("../fakes/workers/crashing-worker.ts", import.meta.url);
const dir = await mkdtemp(`${tmpdir()}/holdpoint-workers-`);
after(() => rm(dir, { recursive: true }));
let spools = 0;

interface Running {
  readonly backend: FakeBackend;
  readonly collector: TestCollector;
}

async function start(
  t: TestContext,
  mode: "memory" | "durable",
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const backend = await startBackend();
  const spool = mode === "durable" ? { SPOOL_DIR: `${dir}/${spools++}` } : {};
  const settings = { WORKERS: "3", FLUSH_INTERVAL_MS: "1", ...spool, ...env };
  const collector = await startCollector(backend.url, settings, { workerEntry: ENTRY });
  t.after(async () => {
    await collector.stop();
    await backend.close();
    assert.deepEqual(backend.violations, []);
  });
  return { backend, collector };
}

const withText = (span: TestSpan, text: string): TestSpan => ({ ...span, attributes: { "gen_ai.prompt": text } });
const names = ({ backend }: Running): string[] => backend.runs.map((run) => String(run.main["name"]));

/** As exporters do: again after 503, which a crash at that moment may cause. */
async function acknowledged({ collector }: Running, spans: readonly TestSpan[]): Promise<void> {
  for (;;) {
    const { status } = await collector.send(protobufRequest(spans));
    if (status === 200) return;
    assert.equal(status, 503);
  }
}

describe("a worker that crashes", () => {
  test("durable: spans that wait in its trees are replayed, in the same trace, once each", async (t) => {
    const running = await start(t, "durable", { ORPHAN_TIMEOUT_MS: "60000" });
    const { backend, collector } = running;
    const traces = Array.from({ length: 12 }, (_, trace) => trace);
    const children = traces.map((trace) => spanOf(trace, 1, 0));
    const roots = traces.map((trace) => spanOf(trace, 0));
    await acknowledged(running, children);
    const marker = `${dir}/once`;
    await acknowledged(running, [withText(spanOf(50, 0), `crash once ${marker}`)]);
    await acknowledged(running, roots);
    await backend.when(() => backend.runs.length >= 25);
    assert.deepEqual(
      names(running).toSorted(),
      [...children, ...roots, spanOf(50, 0)].map(({ name }) => String(name)).toSorted(),
    );
    for (const run of backend.runs.filter(({ main }) => String(main["name"]).endsWith(".1")))
      assert.equal(run.main["parent_run_id"], run.main["trace_id"]);
    const { accounting } = collector.collector;
    await when(() => accounting.delivered === 25);
    assert.deepEqual([accounting.received, pendingOf(accounting), sumOf(accounting.lost)], [25, 0, 0]);
    assert.ok(collector.log.some((line) => line.includes("worker_crashed")));
    assert.match(await (await fetch(`${collector.url}/metrics`)).text(), /otelcol_process_worker_restarts_total 1\n/);
  });

  test("durable: it finds the places of runs that were delivered before, for their late children", async (t) => {
    const running = await start(t, "durable", { ORPHAN_TIMEOUT_MS: "600000" });
    const { backend, collector } = running;
    const traces = Array.from({ length: 12 }, (_, trace) => trace);
    await acknowledged(
      running,
      traces.flatMap((trace) => [spanOf(trace, 0), spanOf(trace, 1, 0)]),
    );
    const { accounting } = collector.collector;
    await when(() => accounting.delivered === 24);
    await acknowledged(running, [withText(spanOf(50, 0), `crash once ${dir}/places`)]);
    await when(() => accounting.delivered === 25);
    await acknowledged(
      running,
      traces.map((trace) => spanOf(trace, 2, 1)),
    );
    await when(() => accounting.delivered === 37);
    const orders = new Map(backend.runs.map(({ id, main }) => [id, String(main["dotted_order"])]));
    for (const { main } of backend.runs.filter(({ main: { name } }) => String(name).endsWith(".2"))) {
      const parent = orders.get(String(main["parent_run_id"])) ?? assert.fail("its parent is unknown");
      assert.ok(String(main["dotted_order"]).startsWith(`${parent}.`));
    }
    assert.match(await (await fetch(`${collector.url}/metrics`)).text(), /otelcol_process_worker_restarts_total 1\n/);
  });

  test("durable: input that crashes it each time counts as lost; the others are delivered", async (t) => {
    const running = await start(t, "durable");
    const { backend, collector } = running;
    const { accounting } = collector.collector;
    await acknowledged(running, [withText(spanOf(50, 0), "crash at feed")]);
    const others = Array.from({ length: 12 }, (_, trace) => spanOf(trace, 0));
    await acknowledged(running, others);
    await backend.when(() => backend.runs.length >= 12);
    await when(() => pendingOf(accounting) === 0);
    assert.deepEqual([accounting.lost.worker_crashed, accounting.delivered], [1, 12]);
    assert.ok(collector.log.some((line) => line.includes("items_lost")));
  });

  test("memory: its items count as lost, and the next ones are delivered", async (t) => {
    const running = await start(t, "memory");
    const { backend, collector } = running;
    const { accounting } = collector.collector;
    await acknowledged(running, [withText(spanOf(50, 0), "crash at feed")]);
    await when(() => accounting.lost.worker_crashed === 1);
    const others = Array.from({ length: 12 }, (_, trace) => spanOf(trace, 0));
    await acknowledged(running, others);
    await backend.when(() => backend.runs.length >= 12);
    await when(() => pendingOf(accounting) === 0);
    assert.deepEqual([accounting.received, accounting.delivered], [13, 12]);
  });

  for (const mode of ["memory", "durable"] as const)
    test(`${mode}: a request that it cannot read is refused with 503, whole, and lost by nobody`, async (t) => {
      const { backend, collector } = await start(t, mode);
      const others = Array.from({ length: 12 }, (_, trace) => spanOf(trace, 0));
      const poison = withText(spanOf(50, 0), "crash at read");
      const response = await collector.send(protobufRequest([...others, poison]));
      assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "1"]);
      assert.equal((await collector.send(protobufRequest(others))).status, 200);
      await backend.when(() => backend.runs.length >= 12);
      const { accounting } = collector.collector;
      await when(() => pendingOf(accounting) === 0);
      assert.deepEqual([accounting.received, accounting.delivered, sumOf(accounting.lost)], [12, 12, 0]);
    });
});

test("a request with a fault in one share is refused whole", async (t) => {
  const { backend, collector } = await start(t, "memory");
  const text = JSON.stringify({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: Array.from({ length: 9 }, (_, at) => ({
              traceId: String(at + 1).repeat(32),
              spanId: "1".repeat(16),
            })),
          },
        ],
      },
    ],
  });
  assert.equal((await collector.send(text.replace('"spanId":"1111111111111111"', '"spanId":nonsense'))).status, 400);
  assert.equal((await collector.send(text)).status, 200);
  await backend.when(() => backend.runs.length >= 9);
  assert.equal(collector.collector.accounting.received, 9);
});

test("rejected spans of all workers are in one partial success", async (t) => {
  const { backend, collector } = await start(t, "durable");
  const good = Array.from({ length: 9 }, (_, trace) => spanOf(trace, 0));
  const bad = good.map((span) => ({ ...span, spanId: "00".repeat(8) }));
  const mixed = good.flatMap((span, at) => [bad[at] ?? span, span]);
  assert.equal((await collector.send(protobufRequest(mixed))).status, 200);
  await backend.when(() => backend.runs.length >= 9);
  const { accounting } = collector.collector;
  await when(() => pendingOf(accounting) === 0);
  assert.deepEqual([accounting.received, accounting.rejected, accounting.delivered], [18, 9, 9]);
});
