// Sampling in durable mode: a trace that was kept stays kept, whatever ends the collector between the upload of one of
// its spans and the upload of the next.
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { type AcceptedRun, type FakeBackend, startBackend } from "../fakes/backend.ts";
import { protobufRequest, buildSpan, type TestSpan } from "../fakes/otlp.ts";
import { type CollectorProcess, startCollectorProcess } from "../fakes/processes.ts";
import { RECORD } from "@holdpoint/collector/spool/record.ts";
import { scanMarks } from "@holdpoint/collector/spool/scan.ts";
import { PATIENCE } from "../harness/patience.ts";
import { until } from "../harness/threads.ts";

const FAILED = { status: { code: 2 } };
/** Processes of the test in progress. */
const processes: CollectorProcess[] = [];
const RULES = { sample: { rate: 0, keep: [{ error: true }], wait_ms: 3000 } };

async function started(env: Readonly<Record<string, string>>): Promise<CollectorProcess> {
  const one = (await startCollectorProcess(env)) ?? assert.fail("it did not start");
  processes.push(one);
  return one;
}

async function send({ url }: CollectorProcess, ...spans: readonly TestSpan[]): Promise<void> {
  const { status } = await fetch(`${url}/v1/traces`, {
    method: "POST",
    body: new Uint8Array(protobufRequest(spans)),
    headers: { "content-type": "application/x-protobuf", "x-api-key": "key-1" },
  });
  assert.equal(status, 200);
}

const isRunNamed =
  (name: string) =>
  ({ main }: AcceptedRun): boolean =>
    main["name"] === name;

/** @returns undefined without a mark in any segment */
async function hasMarks(dir: string): Promise<true | undefined> {
  for (const name of await readdir(dir, { recursive: true })) {
    if (!/^\d{10}\./.test(basename(name))) continue;
    const { records } = scanMarks(await readFile(join(dir, name)), name);
    if (records.some(({ type }) => type === RECORD.marks)) return true;
  }
  return undefined;
}

async function whenRun(backend: FakeBackend, name: string): Promise<void> {
  await backend.when(() => backend.runs.some(isRunNamed(name)));
}

async function withSpool(
  work: (env: Readonly<Record<string, string>>, backend: FakeBackend) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-sample-kill-`);
  const backend = await startBackend();
  await writeFile(`${dir}/rules.json`, JSON.stringify(RULES));
  const env = { TRACING_ENDPOINT: backend.url, RULES_FILE: `${dir}/rules.json`, SPOOL_DIR: `${dir}/spool` };
  try {
    await work(env, backend);
    assert.deepEqual(backend.violations, []);
  } finally {
    for (const { child } of processes.splice(0)) child.kill("SIGKILL");
    await backend.close();
    await rm(dir, { recursive: true });
  }
}

describe("a kept trace stays kept", PATIENCE, () => {
  test("after kill -9 between its uploads", async () => {
    await withSpool(async (env, backend) => {
      const first = await started({ ...env, orphanTimeoutMs: "20000" });
      await send(first, buildSpan(1, 2, 9)); // its parent never comes
      await send(first, buildSpan(1, 1, undefined, FAILED));
      await whenRun(backend, "span 1.1");
      await until("the marks of span 1.1 on disk", () => hasMarks(env["SPOOL_DIR"] ?? ""));
      assert.ok(!backend.runs.some(isRunNamed("span 1.2")), "it still waits for its parent");
      first.child.kill("SIGKILL");
      await first.ended;
      const second = await started(env);
      await whenRun(backend, "span 1.2");
      second.child.kill("SIGTERM");
      assert.equal(await second.ended, 0);
    });
  });

  test("after a stop, for its late spans", async () => {
    await withSpool(async (env, backend) => {
      const first = await started(env);
      await send(first, buildSpan(1, 1, undefined, FAILED));
      await whenRun(backend, "span 1.1");
      first.child.kill("SIGTERM");
      assert.equal(await first.ended, 0);
      const second = await started(env);
      await send(second, buildSpan(1, 2, 1));
      await whenRun(backend, "span 1.2");
      second.child.kill("SIGTERM");
      assert.equal(await second.ended, 0);
    });
  });
});
