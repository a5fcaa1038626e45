// Tests of durable mode: acknowledged spans survive kill -9 at any moment: nothing lost, nothing changed, no second
// place in a tree.
// HOLDPOINT_FAULTS=full: 10,000 acknowledged spans and 50 kills.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startBackend, type AcceptedRun } from "../fakes/backend.ts";
import { type CollectorProcess, startCollectorProcess } from "../fakes/processes.ts";
import { protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { IS_LONG } from "../harness/long.ts";

const full = process.env["HOLDPOINT_FAULTS"] === "full";
const KILLS = full ? 50 : IS_LONG ? 3 : 2;
const SPANS = full ? 10_000 : IS_LONG ? 900 : 300;
const SPANS_A_REQUEST = 5;

/** The calls of the file port at which the process ends itself; the other half of the kills come from outside. */
const KILL_POINTS = [
  "write before 3",
  "write after 3",
  "sync before 4",
  "sync after 4",
  "write after 20",
  "sync before 25",
  "create after 2",
  "unlink before 1",
  "unlink after 1",
  "unlink after 2",
  "syncDir before 2",
  "syncDir after 1",
  "openToRead after 2",
  "list after 1",
];

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

test(`${SPANS} acknowledged spans, ${KILLS} kills, the backend away until the last restart: 0 lost, 0 altered`, async () => {
  const seed = Number(process.env["SEED"] ?? Date.now() & 0xffff);
  const random = seeded(seed);
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-kill-`);
  const backend = await startBackend();
  backend.script = () => ({ status: random() < 0.3 ? 429 : 503 });
  const acked = new Set<string>();
  let next = 0;
  let kills = 0;
  let duplicatesWanted = 0;

  async function send(collector: CollectorProcess): Promise<boolean> {
    const trace = next++;
    const spans = Array.from({ length: SPANS_A_REQUEST }, (_, span) =>
      buildSpan(trace, span, span === 0 ? undefined : span - 1),
    );
    try {
      const response = await fetch(`${collector.url}/v1/traces`, {
        method: "POST",
        body: new Uint8Array(protobufRequest(spans.toReversed())),
        headers: { "content-type": "application/x-protobuf", "x-api-key": `key-${trace % 3}` },
      });
      if (response.status === 200) for (const span of spans) acked.add(`${trace % 3} ${span.name}`);
      else duplicatesWanted++;
      return true;
    } catch {
      return false; // killed: maybe taken, maybe not
    }
  }

  const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: dir, retryCooldownMs: "20", SPOOL_MAX_BYTES: "67108864" };
  while (kills < KILLS || acked.size < SPANS) {
    const byPoint = kills < KILLS && random() < 0.5;
    const point = KILL_POINTS[Math.floor(random() * KILL_POINTS.length)] ?? "";
    const collector = await startCollectorProcess(byPoint ? { ...env, KILL_AT: point } : env);
    if (collector === null) {
      kills++; // died while it recovered
      continue;
    }
    // Killed after a random number of acknowledgements, with other requests still under way.
    const goal = acked.size + Math.ceil((0.5 + random()) * (SPANS / KILLS));
    const senders = Array.from({ length: 8 }, async () => {
      while (await send(collector)) if (acked.size >= goal) collector.child.kill("SIGKILL");
    });
    await Promise.all(senders);
    await collector.ended;
    kills++;
  }

  // Half of the uploads break after the backend took them: repeats must be harmless.
  let answers = 0;
  backend.script = () => (answers++ % 2 === 0 ? "take_and_reset" : { status: 202 });
  const last = (await startCollectorProcess(env)) ?? assert.fail("did not start");
  const nameRun = (run: AcceptedRun): string => `${run.key.slice(4)} ${String(run.main["name"])}`;
  const arrived = (): Set<string> => new Set(backend.runs.map(nameRun));
  await backend.when(() => arrived().isSupersetOf(acked));
  assert.ok(await send(last)); // a fresh span gets through
  last.child.kill("SIGTERM");
  assert.equal(await last.ended, 0);
  await backend.close();
  await rm(dir, { recursive: true });

  assert.deepEqual(backend.violations, []);
  assert.ok(acked.size >= SPANS && kills >= KILLS, "enough happened");
  const first = new Map<string, AcceptedRun>();
  let repeats = 0;
  for (const run of backend.runs) {
    const name = nameRun(run);
    assert.equal(run.inputs["text"], `question ${String(run.main["name"]).slice(5)}`, "altered");
    const before = first.get(name);
    if (before === undefined) first.set(name, run);
    else {
      repeats++;
      assert.equal(run.text, before.text, "a repeat differs");
    }
  }
  assert.ok(repeats > 0, "no repeat was seen: the test proves nothing about them");
  console.log(
    `seed ${seed}: ${acked.size} acknowledged, ${kills} kills, ${first.size} arrived, ${repeats} repeats, ${duplicatesWanted} refused`,
  );
});

test("SIGTERM under load, while the backend is dead, slow or well: nothing acknowledged is lost", async () => {
  const rounds = full ? 33 : 1;
  for (let round = 0; round < rounds; round++)
    for (const kind of IS_LONG ? (["well", "slow", "dead"] as const) : (["dead"] as const)) {
      const dir = await mkdtemp(`${tmpdir()}/holdpoint-term-`);
      const backend = await startBackend();
      backend.script = async () => {
        if (kind === "slow") await sleep(50);
        return { status: kind === "dead" ? 503 : 202 };
      };
      const env = {
        TRACING_ENDPOINT: backend.url,
        SPOOL_DIR: dir,
        SHUTDOWN_TIMEOUT_MS: "2600",
        retryCooldownMs: "60000",
      };
      const collector = (await startCollectorProcess(env)) ?? assert.fail();
      const acked = new Set<string>();
      const senders = Array.from({ length: 4 }, async (_, sender) => {
        for (let trace = sender * 1000; ; trace++) {
          try {
            const response = await fetch(`${collector.url}/v1/traces`, {
              method: "POST",
              body: new Uint8Array(
                protobufRequest([buildSpan(trace, 1, 0), ...(trace % 2 === 0 ? [buildSpan(trace, 0)] : [])]),
              ),
              headers: { "content-type": "application/x-protobuf", "x-api-key": "k" },
            });
            if (response.status !== 200) return;
            acked.add(`span ${trace}.1`);
          } catch {
            return;
          }
          if (acked.size === 100) collector.child.kill("SIGTERM");
        }
      });
      await Promise.all(senders);
      assert.equal(await collector.ended, 0);
      backend.script = () => ({ status: 202 });
      const after = (await startCollectorProcess(env)) ?? assert.fail();
      await backend.when(() => new Set(backend.runs.map((run) => String(run.main["name"]))).isSupersetOf(acked));
      after.child.kill("SIGTERM");
      await after.ended;
      await backend.close();
      await rm(dir, { recursive: true });
      assert.deepEqual(backend.violations, []);
      assert.ok(acked.size >= 100);
    }
});
