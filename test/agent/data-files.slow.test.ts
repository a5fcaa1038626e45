// The files of a data folder, from outside. Checked:
//   data-files.1. A running server notices the deletion of its database or lock: /ready replies 503 with the reason,
//        writes fail, and acknowledged writes stay. The collector's spool and the trace store do the same.
//   data-files.2. Everything that the product makes is its owner's alone, with the usual umask.
//   data-files.3. A folder or a database that is open to others is named at the start, with a remedy that helps.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { readConfig } from "@holdpoint/base/config/config.ts";
import { LOG_SUFFIX } from "@holdpoint/collector/spool/collect-segments.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createTraceServer } from "@holdpoint/collector/traces/server.ts";
import { TRACE_SETTINGS } from "@holdpoint/collector/traces/settings.ts";
import { startBackend } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { holdpoint } from "../harness/cli.ts";
import { startServerHere } from "../harness/server-here.ts";
import { until } from "../harness/threads.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";

for (const name of ["holdpoint.db", "lock.db"]) {
  test(`${name} deleted under the server: /ready is 503 and writes are refused (data-files.1)`, async () => {
    const server = await startServerHere({ env: { DATABASE_URI: "" } });
    const [path, aside] = [join(server.dataDir, name), join(server.dataDir, "aside")];
    try {
      const threads: string[] = [];
      const make = () => call(server, "POST", "/threads", {});
      threads.push(((await make()).body as { readonly thread_id: string }).thread_id);
      renameSync(path, aside);
      const ready = await call(server, "GET", "/ready");
      assert.equal(ready.status, 503);
      assert.match(ready.text, new RegExp(`${name} was deleted`));
      assert.equal((await make()).status, 503);
      assert.equal((await call(server, "GET", `/threads/${threads[0]}`)).status, 200);
      assert.ok(server.logs.some(({ event }) => event === "data_files_gone"));
      renameSync(aside, path);
      assert.equal((await call(server, "GET", "/ready")).status, 200);
      assert.equal((await make()).status, 200);
    } finally {
      await server.stop();
      removeFolder(server.dataDir);
    }
  });
}

test("the spool's lock deleted under the collector: /ready is 503 and spans are refused (data-files.1)", async () => {
  const dir = temporaryFolder();
  const backend = await startBackend();
  const collector = await startCollector(backend.url, { SPOOL_DIR: dir });
  const send = async (n: number) => (await collector.send(protobufRequest([buildSpan(n, 0)]))).status;
  try {
    renameSync(join(dir, "lock"), join(dir, "aside"));
    const ready = await fetch(`${collector.url}/ready`);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /lock was deleted/);
    assert.equal(await send(1), 503);
    assert.ok(collector.log.some((line) => line.includes("data_files_gone")));
    renameSync(join(dir, "aside"), join(dir, "lock"));
    assert.equal((await fetch(`${collector.url}/ready`)).status, 200);
    assert.equal(await send(2), 200);
  } finally {
    await collector.stop();
    await backend.close();
    removeFolder(dir);
  }
});

test("the spool's open segment deleted under the collector: spans are refused until there is a new one (data-files.1)", async () => {
  const dir = temporaryFolder();
  const backend = await startBackend();
  // No batch is due during the test: its write would notice the missing segment before the second request does.
  const collector = await startCollector(backend.url, { SPOOL_DIR: dir, FLUSH_INTERVAL_MS: "3600000" });
  const send = async (n: number) => (await collector.send(protobufRequest([buildSpan(n, 0)]))).status;
  const segments = () => readdirSync(dir).filter((name) => name.endsWith(`.${LOG_SUFFIX}`));
  try {
    assert.equal(await send(1), 200);
    const open = segments().toSorted().at(-1) ?? "";
    renameSync(join(dir, open), join(dir, "aside"));
    assert.equal(await send(2), 503);
    assert.ok(collector.log.some((line) => line.includes(`${open} was deleted or replaced`)));
    await until("spans are taken again", async () => (await send(3)) === 200 || undefined);
    assert.ok((segments().toSorted().at(-1) ?? "") > open);
  } finally {
    await collector.stop();
    await backend.close();
    removeFolder(dir);
  }
});

test("a closed segment of the spool deleted under the collector: /ready is 503 until it is back or delivered (data-files.1)", async () => {
  const dir = temporaryFolder();
  const backend = await startBackend();
  const collector = await startCollector(backend.url, {
    SPOOL_DIR: dir,
    SPOOL_MAX_BYTES: "1048576", // segments of 64 KiB
    FLUSH_INTERVAL_MS: "3600000",
  });
  const send = async (n: number) => {
    const attributes = { "gen_ai.prompt": "x".repeat(50_000) };
    return (await collector.send(protobufRequest([buildSpan(n, 0, undefined, { attributes })]))).status;
  };
  const ready = async () => (await fetch(`${collector.url}/ready`)).status;
  try {
    for (let n = 0; n < 4; n++) assert.equal(await send(n), 200);
    const [closed = "", ...later] = readdirSync(dir)
      .filter((name) => name.endsWith(`.${LOG_SUFFIX}`))
      .toSorted();
    assert.ok(later.length > 0);
    renameSync(join(dir, closed), join(dir, "aside"));
    await collector.whenLogged("spool_segment_gone");
    assert.equal(await ready(), 503);
    assert.match(await (await fetch(`${collector.url}/ready`)).text(), new RegExp(`${closed} was deleted or replaced`));
    assert.equal(await send(4), 200, "the open segment takes spans");
    renameSync(join(dir, "aside"), join(dir, closed));
    await collector.whenLogged("spool_segment_settled");
    assert.equal(await ready(), 200);
    rmSync(join(dir, closed));
    await collector.whenLogged("spool_segment_gone", 2);
    assert.equal(await ready(), 503);
  } finally {
    await collector.stop();
    await backend.close();
    removeFolder(dir);
  }
  assert.equal(backend.uploads.flatMap(({ runs }) => runs).length, 5, "spans in memory are delivered");
  assert.ok(!collector.log.some((line) => line.includes("spool_collect_failed")));
});

async function startTraces(dir: string) {
  const said: string[] = [];
  const log = createLog({
    level: "info",
    json: true,
    secrets: [],
    now: Date.now,
    write: (line) => void said.push(line),
  });
  const config = readConfig({ HOLDPOINT_DATA_DIR: dir, TRACES_PORT: "0" }, TRACE_SETTINGS, () => "");
  const server = createTraceServer(config, { clock: systemClock, log, ring: null, version: "0.0.0" });
  await server.start();
  return { server, said, url: `http://127.0.0.1:${server.address().port}` };
}

const RUN = { id: "00000000-0000-4000-8000-000000000001", name: "run", run_type: "chain" };
const upload = (url: string) =>
  fetch(`${url}/runs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...RUN, trace_id: RUN.id, dotted_order: `20260101T000000000000Z${RUN.id}` }),
  });

for (const name of ["traces.db", "traces.db-wal"]) {
  test(`${name} deleted under the trace store: /ready is 503 and uploads are refused (data-files.1)`, async () => {
    const dir = temporaryFolder();
    const { server, said, url } = await startTraces(dir);
    const [path, aside] = [join(dir, name), join(dir, "aside")];
    try {
      assert.equal((await upload(url)).status, 202);
      renameSync(path, aside);
      const ready = await fetch(`${url}/ready`);
      assert.equal(ready.status, 503);
      assert.match(await ready.text(), new RegExp(`${name} was deleted`));
      assert.equal((await upload(url)).status, 503);
      const removal = await fetch(`${url}/traces/${RUN.id}`, { method: "DELETE" });
      assert.equal(removal.status, 503);
      assert.ok(said.some((line) => line.includes("data_files_gone")));
      renameSync(aside, path);
      assert.equal((await fetch(`${url}/ready`)).status, 200);
      assert.equal((await upload(url)).status, 202);
    } finally {
      await server.stop();
      removeFolder(dir);
    }
  });
}

/** Every file and folder below, with its mode. */
function modes(folder: string): readonly (readonly [path: string, mode: number])[] {
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return ["", ...below].map((path) => [path, statSync(join(folder, path)).mode & 0o777]);
}

test("databases, locks, backups and exports are their owner's alone (data-files.2)", async () => {
  const umask = process.umask(0o022);
  const outside = temporaryFolder();
  const dataDir = join(outside, "data");
  try {
    const server = await startServerHere({ dataDir, env: { DATABASE_URI: "" } });
    assert.equal((await call(server, "POST", "/runs/wait", { assistant_id: "steps", input: {} })).status, 200);
    const backup = await holdpoint(["backup", join(outside, "copy.db"), "--data-dir", dataDir]);
    assert.equal(backup.code, 0, backup.err);
    const mistyped = await holdpoint(["backup", join(outside, "nowhere", "copy.db"), "--data-dir", dataDir]);
    assert.deepEqual([mistyped.code, /nowhere does not exist: create it/.test(mistyped.err)], [1, true]); // atomic-file.3
    const running = modes(outside);
    await server.stop();
    const moved = await holdpoint(["export", join(outside, "moved.jsonl"), "--data-dir", dataDir]);
    assert.equal(moved.code, 0, moved.err);
    const seen = new Map([...running, ...modes(outside)]);
    for (const name of ["data/holdpoint.db", "data/holdpoint.db-wal", "data/lock.db", "copy.db", "moved.jsonl"])
      assert.ok(seen.has(name), `${name} is among ${[...seen.keys()].join(" ")}`);
    for (const [path, mode] of seen) assert.equal(mode & 0o077, 0, `${path} has mode ${mode.toString(8)}`);
  } finally {
    process.umask(umask);
    removeFolder(outside);
  }
});

test("traces, spool and dead letters are their owner's alone (data-files.2)", async () => {
  const umask = process.umask(0o022);
  const outside = temporaryFolder();
  const backend = await startBackend();
  backend.script = () => ({ status: 422 });
  const { server, url } = await startTraces(join(outside, "traces"));
  const folders = { SPOOL_DIR: join(outside, "spool"), DEAD_LETTER_DIR: join(outside, "dead") };
  const collector = await startCollector(backend.url, folders);
  try {
    assert.equal((await upload(url)).status, 202);
    assert.equal((await collector.send(protobufRequest([buildSpan(1, 0)]))).status, 200);
    await collector.whenLogged("runs_dead_lettered");
    const seen = new Map(modes(outside));
    for (const name of [
      /^traces\/traces\.db$/,
      /^traces\/traces\.db-wal$/,
      /^spool\/lock$/,
      /^spool\/\d+\.log$/,
      /^dead\/.*\.dead$/,
    ])
      assert.ok(
        [...seen.keys()].some((path) => name.test(path)),
        `${name} is among ${[...seen.keys()].join(" ")}`,
      );
    for (const [path, mode] of seen) assert.equal(mode & 0o077, 0, `${path} has mode ${mode.toString(8)}`);
  } finally {
    process.umask(umask);
    await collector.stop();
    await server.stop();
    await backend.close();
    removeFolder(outside);
  }
});

for (const [path, mode, open] of [
  ["", 0o777, true],
  ["", 0o702, true],
  ["holdpoint.db", 0o640, true],
  ["", 0o700, false],
  ["", 0o755, false],
] as const)
  test(`data_folder_open is ${open ? "" : "not "}logged for mode ${mode.toString(8)} of the ${path || "folder"} (data-files.3)`, async () => {
    const first = await startServerHere({ env: { DATABASE_URI: "" } });
    await first.stop();
    chmodSync(join(first.dataDir, path), mode);
    const second = await startServerHere({ env: { DATABASE_URI: "" }, dataDir: first.dataDir });
    try {
      const line = second.logs.find(({ event }) => event === "data_folder_open");
      assert.equal(line !== undefined, open);
      if (line === undefined) return;
      assert.deepEqual(
        [line["level"], line["path"], line["mode"]],
        ["warning", join(first.dataDir, path).replace(/\/$/, ""), mode.toString(8)],
      );
      const [program = "", ...args] = String(line["remedy"]).split(" ");
      execFileSync(program, args);
    } finally {
      await second.stop();
    }
    const third = await startServerHere({ env: { DATABASE_URI: "" }, dataDir: first.dataDir });
    await third.stop();
    removeFolder(first.dataDir);
    assert.ok(!third.logs.some(({ event }) => event === "data_folder_open"), "the remedy helps");
  });
