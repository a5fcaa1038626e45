// Tests of the collector's encryption at rest, over its files: spool, dead letters and forward queues.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test, type TestContext } from "node:test";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { replayDeadLetters } from "@holdpoint/collector/commands/replay.ts";
import { startBackend, type FakeBackend } from "../fakes/backend.ts";
import { startCollector, testConfig, type TestCollector } from "../fakes/collector.ts";
import { protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";
import { buildSpan, protobufRequest } from "../fakes/otlp.ts";

const CANARY = "canary5f2e";
const PATIENCE = { timeout: 60_000 };
const makeKey = (id: string, byte: number): string => `${id}:${Buffer.alloc(32, byte).toString("base64")}`;
const [K1, K2] = [makeKey("k1", 1), makeKey("k2", 2)];

async function makeFolder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-sealed-`);
  t.after(() => rm(dir, { recursive: true }));
  return dir;
}

interface Started {
  readonly collector: TestCollector;
  readonly backend: FakeBackend;
}

/** Against a backend that refuses one key and is away for the others; a destination is away too. */
async function start(dir: string, keys: string, isUp = false): Promise<Started> {
  const backend = await startBackend();
  const refused = { status: 422, text: `${CANARY} refused` };
  backend.script = ({ key }) => (isUp ? { status: 202 } : key.includes("refused") ? refused : { status: 503 });
  const rules = join(dir, "rules.json");
  writeFileSync(rules, JSON.stringify({ forward: [{ name: "away", endpoint: "http://127.0.0.1:1" }] }));
  const env = { SPOOL_DIR: join(dir, "spool"), RULES_FILE: rules, MAX_RETRIES: "0", HOLDPOINT_ENCRYPTION_KEYS: keys };
  try {
    return { backend, collector: await startCollector(backend.url, env) };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

async function stop({ collector, backend }: Started): Promise<void> {
  await collector.stop();
  await backend.close();
}

/** A canary in key, tenant, project, attributes and log records, of spans that wait and of spans that are refused. */
async function fill({ collector }: Started): Promise<void> {
  const attributes = { "gen_ai.prompt": `${CANARY} asked`, [CANARY]: "attribute" };
  for (const [trace, key] of ["waiting", "refused"].entries()) {
    const headers = { "x-api-key": `${CANARY}-${key}`, "x-tenant-id": CANARY, "langsmith-project": CANARY };
    const span = buildSpan(trace, 0, undefined, { attributes });
    await collector.send(protobufRequest([span]), headers);
    const logs = { method: "POST", headers: { ...headers, "content-type": "application/x-protobuf" } };
    const body = new Uint8Array(
      protobufLogs([buildRecord(span, "gen_ai.user.message", { body: { content: `${CANARY} said` } })]),
    );
    await fetch(`${collector.url}/v1/logs`, { ...logs, body });
  }
  await collector.whenLogged("runs_dead_lettered");
}

function listFiles(at: TestCollector | string, suffix: string): readonly string[] {
  const dir = typeof at === "string" ? at : String(/"spool_dir":"([^"]+)"/.exec(at.log.join(""))?.[1]);
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map(({ name, parentPath }) => join(parentPath, name));
}

/** Suffixes of the files that have the canary. */
function findIn(dir: string): readonly string[] {
  const found = listFiles(join(dir, "spool"), "").filter((path) => readFileSync(path).includes(CANARY));
  return [...new Set(found.map((path) => path.split(".").at(-1) ?? ""))].toSorted();
}

test("no file has a value in plain text, and a restart delivers all", PATIENCE, async (t) => {
  const [plain, sealed] = [await makeFolder(t), await makeFolder(t)];
  for (const [dir, keys, found] of [
    [plain, "", ["dead", "fwd", "log"]],
    [sealed, K1, []],
  ] as const) {
    const first = await start(dir, keys);
    await fill(first);
    assert.deepEqual(findIn(dir), found);
    await stop(first);
    assert.deepEqual(findIn(dir), found, "after a stop");
  }
  for (const dir of [plain, sealed]) {
    const second = await start(dir, K1, true);
    await second.backend.when(() => second.backend.runs.length > 0);
    assert.ok(second.backend.runs.every(({ key }) => key === `${CANARY}-waiting`));
    assert.match(JSON.stringify(second.backend.runs), new RegExp(`${CANARY} asked`));
    assert.equal(second.collector.collector.accounting.lost.unreadable, 0);
    await stop(second);
  }
});

test("a file whose key is missing or another one stops the start, which changes nothing", PATIENCE, async (t) => {
  const dir = await makeFolder(t);
  const first = await start(dir, K1);
  await fill(first);
  await stop(first);
  const read = (): unknown => listFiles(join(dir, "spool"), "").map((path) => [path, readFileSync(path, "base64")]);
  for (const suffix of ["log", "trees", "fwd", "dead"]) {
    const before = read();
    for (const [keys, reason] of [
      ["", /\.SUFFIX needs the key "k1", which is not given: add it behind the others/],
      [K2, /\.SUFFIX needs the key "k1", which is not given: add it behind the others/],
      [makeKey("k1", 9), /the key "k1" is another one than that which sealed .*\.SUFFIX/],
    ] as const) {
      const expected = new RegExp(reason.source.replace("SUFFIX", suffix));
      await assert.rejects(start(dir, keys), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(error.problems[0]?.name, "HOLDPOINT_ENCRYPTION_KEYS");
        assert.match(error.problems[0].reason, expected);
        return true;
      });
    }
    assert.deepEqual(read(), before);
    for (const path of listFiles(join(dir, "spool"), `.${suffix}`)) rmSync(path); // the next kind of file refuses alone
  }
});

test(
  "a key is changed: files of both are read, and the old one is listed until no file needs it",
  PATIENCE,
  async (t) => {
    const dir = await makeFolder(t);
    const listed = ({ collector }: Started): unknown => {
      const line = collector.log.find((one) => one.includes('"collector_keys"')) ?? "{}";
      const { newest, in_use: used } = JSON.parse(line) as { newest: string; in_use: string[] };
      return [newest, used.toSorted()];
    };
    const first = await start(dir, K1);
    await fill(first);
    await stop(first);
    const second = await start(dir, `${K2},${K1}`);
    assert.deepEqual(listed(second), ["k2", ["k1"]]);
    await fill(second);
    await stop(second);
    const third = await start(dir, `${K2},${K1}`, true);
    assert.deepEqual(listed(third), ["k2", ["k1", "k2"]]);
    await third.backend.when(() => third.backend.runs.length > 1);
    await stop(third);
    for (const path of listFiles(join(dir, "spool"), "").filter((one) => /\.(dead|fwd|trees)$/.test(one))) rmSync(path);
    const last = await start(dir, K2, true);
    assert.deepEqual(findIn(dir), []);
    await stop(last);
  },
);

test("a dead letter opens under its own name alone, in any folder, and replay sends it", PATIENCE, async (t) => {
  const [dir, other] = [await makeFolder(t), await makeFolder(t)];
  const first = await start(dir, K1);
  await fill(first);
  await stop(first);
  const backend = await startBackend();
  t.after(() => backend.close());
  const env = { TRACING_ENDPOINT: backend.url, TRACING_API_KEY: `${CANARY}-refused`, DEAD_LETTER_DIR: other };
  const [letter = "", ...more] = listFiles(join(dir, "spool"), ".dead");
  for (const path of more) rmSync(path);
  const moved = join(other, "1-1-000000.dead");
  renameSync(letter, moved);
  const renamed = await replayDeadLetters(testConfig({ ...env, HOLDPOINT_ENCRYPTION_KEYS: K1 }));
  assert.deepEqual([renamed.sent, renamed.kept], [0, 1]);
  assert.match(renamed.problems.join(), /does not open with the key "k1": it was changed, or moved/);
  renameSync(moved, join(other, basename(letter)));
  const keyless = await replayDeadLetters(testConfig(env));
  assert.match(keyless.problems.join(), /needs the key "k1" in HOLDPOINT_ENCRYPTION_KEYS/);
  const sent = await replayDeadLetters(testConfig({ ...env, HOLDPOINT_ENCRYPTION_KEYS: K1 }));
  assert.deepEqual([sent.sent, sent.kept], [1, 0]);
  assert.deepEqual(listFiles(other, ".dead"), []);
});
