// The stop of the collector: a worker thread that is late with its spans, or that hangs.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { test, type TestContext } from "node:test";
import { pendingOf } from "../../src/collector/shared/span-accounting.ts";
import { startBackend } from "../fakes/backend.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { protobufRequest, spanOf } from "../fakes/otlp.ts";

const ENTRY = new URL("../fakes/workers/crashing-worker.ts", import.meta.url);
const HOUR_MS = 3_600_000;
const SHUTDOWN_MS = 25_000;
const UPLOADS_END_MS = SHUTDOWN_MS - 2000;

interface Holding {
  readonly blockMs: number;
  readonly shutdownMs?: number;
  readonly text?: string;
  readonly spool?: Readonly<Record<string, string>>;
}

interface Running {
  readonly clock: FakeClock;
  readonly collector: TestCollector;
  readonly deadLetters: string;
}

/** With three spans, each of a trace of its own, that their worker holds, and `blockMs` of a flush. */
async function startHolding(t: TestContext, held: Holding): Promise<Running> {
  const { blockMs, shutdownMs = SHUTDOWN_MS, text = "", spool = {} } = held;
  const clock = createFakeClock();
  const backend = await startBackend();
  const deadLetters = await mkdtemp(`${tmpdir()}/holdpoint-stop-`);
  t.after(async () => {
    await backend.close();
    await rm(deadLetters, { recursive: true });
  });
  const env = {
    WORKERS: "3",
    FLUSH_INTERVAL_MS: "60000",
    SHUTDOWN_TIMEOUT_MS: String(shutdownMs),
    DEAD_LETTER_DIR: deadLetters,
    ...spool,
  };
  const collector = await startCollector(backend.url, env, { clock, workerEntry: ENTRY });
  const attributes = { "gen_ai.prompt": `blocks ${blockMs} ms ${text}` };
  const spans = [0, 1, 2].map((trace) => spanOf(trace, 0, undefined, { attributes }));
  assert.equal((await collector.send(protobufRequest(spans))).status, 200);
  return { clock, collector, deadLetters };
}

test("spans that a worker never hands over count as lost, and the stop ends", async (t) => {
  const { clock, collector } = await startHolding(t, { blockMs: HOUR_MS });
  const { accounting } = collector.collector;
  const stopping = collector.stop();
  await clock.advance(SHUTDOWN_MS);
  await stopping;
  assert.deepEqual([accounting.received, accounting.lost.shut_down, pendingOf(accounting)], [3, 3, 0]);
  assert.equal(collector.collector.lost(), 3);
  assert.ok(collector.log.some((line) => line.includes("items_lost")));
});

test("a worker that hands its spans over after the time of the uploads gets them into the dead letters", async (t) => {
  const { clock, collector, deadLetters } = await startHolding(t, { blockMs: 300 });
  const { accounting } = collector.collector;
  const stopping = collector.stop();
  await clock.advance(UPLOADS_END_MS);
  await stopping;
  assert.deepEqual([accounting.lost.shut_down, pendingOf(accounting)], [0, 0]);
  assert.equal(accounting.delivered + accounting.deadLettered.shut_down, 3);
  assert.equal((await readdir(deadLetters)).length > 0, accounting.deadLettered.shut_down > 0);
});

test(
  "the stop ends when a request in progress outlasts its time and a worker blocks",
  { timeout: 60_000 },
  async (t) => {
    const { clock, collector } = await startHolding(t, { blockMs: HOUR_MS, shutdownMs: 1000 });
    const socket = connect(Number(new URL(collector.url).port), "127.0.0.1");
    await once(socket, "connect");
    const head = "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: key-1\r\nExpect: 100-continue\r\n";
    socket.write(`${head}Content-Type: application/x-protobuf\r\nContent-Length: 10\r\n\r\n`);
    await once(socket, "data"); // 100 Continue: the receiver reads the body
    const stopping = collector.stop();
    await clock.advance(1000); // sooner than the server, which follows the time of the machine
    await stopping;
    socket.destroy();
    assert.equal(collector.collector.lost(), 3);
  },
);

test(
  "the stop ends while a worker hangs on a request of the spool, which stays there",
  { timeout: 60_000 },
  async (t) => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-stop-`);
    t.after(() => rm(dir, { recursive: true }));
    const [lock, spool] = [`${dir}/lock`, { SPOOL_DIR: `${dir}/spool` }];
    const first = await startHolding(t, { blockMs: HOUR_MS, text: `hangs by ${lock}`, spool });
    const stopped = first.collector.stop();
    await first.clock.advance(SHUTDOWN_MS);
    await stopped;
    await writeFile(lock, "");
    const clock = createFakeClock();
    const env = { WORKERS: "3", SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_MS), ...spool };
    const second = await startCollector("http://127.0.0.1:1", env, { clock, workerEntry: ENTRY });
    const stopping = second.stop();
    await clock.advance(SHUTDOWN_MS);
    await stopping;
    assert.deepEqual([pendingOf(second.collector.accounting), second.collector.lost()], [3, 0]);
  },
);
