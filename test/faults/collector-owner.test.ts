// One spool, one owner: of processes that start at the same moment exactly one gets it, and kill -9 releases it.
// HOLDPOINT_FAULTS=full: 100 races.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { startBackend } from "../fakes/backend.ts";
import { protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { type CollectorProcess, startCollectorProcess } from "../fakes/processes.ts";
import { IS_LONG } from "../harness/long.ts";

const RACES = process.env["HOLDPOINT_FAULTS"] === "full" ? 100 : IS_LONG ? 4 : 1;

test(`${RACES} times two processes start on one spool: one owner each time, whose work the next one finishes`, async (t) => {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-owner-`);
  const backend = await startBackend();
  const started: CollectorProcess[] = [];
  t.after(async () => {
    for (const { child } of started) child.kill("SIGKILL"); // a failed assertion leaves none behind
    await backend.close();
    await rm(dir, { recursive: true });
  });
  const wins = [0, 0];
  const acked = new Set<string>();
  for (let race = 0; race < RACES; race++) {
    // Every second race is for a new spool; the others for the spool of a killed owner, with undelivered requests.
    const isNew = race % 2 === 0;
    const spool = isNew ? `${dir}/${race}` : `${dir}/${race - 1}`;
    backend.script = () => ({ status: isNew ? 503 : 202 });
    const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: spool, retryCooldownMs: "60000" };
    const said: string[][] = [[], []];
    const racers = await Promise.all(said.map((words) => startCollectorProcess(env, words)));
    const owners = racers.filter((racer): racer is CollectorProcess => racer !== null);
    started.push(...owners);
    assert.equal(owners.length, 1, said.map((words) => words.join("")).join("\n---\n"));
    const [owner] = owners;
    const place = racers.indexOf(owner ?? null);
    wins[place] = (wins[place] ?? 0) + 1;
    assert.match(said[1 - place]?.join("") ?? "", /another process uses the spool/);

    const span = buildSpan(race, 0);
    const response = await fetch(`${owner?.url}/v1/traces`, {
      method: "POST",
      body: new Uint8Array(protobufRequest([span])),
      headers: { "content-type": "application/x-protobuf", "x-api-key": "k" },
    });
    assert.equal(response.status, 200);
    acked.add(span.name ?? "");
    if (!isNew) await backend.when(() => acked.isSubsetOf(new Set(backend.runs.map((run) => run.main["name"]))));
    owner?.child.kill("SIGKILL");
    assert.equal(await owner?.ended, "SIGKILL");
  }
  assert.deepEqual(backend.violations, []);
  console.log(`${RACES} races, won by the first ${wins[0]} times, by the second ${wins[1]} times`);
});
