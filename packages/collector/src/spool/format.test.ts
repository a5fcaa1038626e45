// Every released format stays readable. test/fixtures/spool/vN is the folder of a killed process of that format: a
// delivered batch, one that the backend refused with 503, and a span without its parent. v2 is encrypted.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { startCollector } from "../../../../test/fakes/collector.ts";
import type { Backend } from "../upload/backend/port.ts";
import { type Body, splitParts } from "../encode/batch-body.ts";
import { encodePlainRecord, RECORD, SPOOL_FORMAT } from "./record.ts";

const FIXTURES = fileURLToPath(new URL("../../../../test/fixtures/spool/", import.meta.url));

const ENV = { HOLDPOINT_ENCRYPTION_KEYS: `fixture:${Buffer.alloc(32, 1).toString("base64")}` };

/** A copy that a test may change. */
async function makeCopy(t: TestContext, version: string): Promise<string> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-format-`);
  t.after(() => rm(dir, { recursive: true }));
  for (const name of readdirSync(FIXTURES + version))
    writeFileSync(`${dir}/${name}`, readFileSync(`${FIXTURES}${version}/${name}`));
  return dir;
}

function readContents(dir: string): Readonly<Record<string, string>> {
  const entries = readdirSync(dir, { withFileTypes: true }).filter(({ name }) => name !== "lock");
  const content = (name: string): string => readFileSync(`${dir}/${name}`).toString("hex");
  return Object.fromEntries(entries.map((one) => [one.name, one.isFile() ? content(one.name) : "folder"]));
}

test("there is a fixture of the present format", () => {
  assert.ok(readdirSync(FIXTURES).includes(`v${SPOOL_FORMAT}`));
});

for (const version of readdirSync(FIXTURES))
  test(`a spool of format ${version} is read: what was left is uploaded with its keys and places, and nothing else`, async (t) => {
    const dir = await makeCopy(t, version);
    const uploaded: string[] = [];
    const show = (body: Body): void => {
      for (const { name, content } of splitParts(body)) {
        if (!/^post\.[^.]+$/.test(name)) continue;
        const run = JSON.parse(content.toString()) as Record<"name" | "session_name" | "dotted_order", string>;
        const depth = run.dotted_order.split(".").length;
        uploaded.push([body.tenant.apiKey, body.tenant.tenantId, run.session_name, run.name, depth].join(" | "));
      }
    };
    const backend: Backend = {
      send: (body) => {
        show(body);
        return Promise.resolve({ kind: "sent" });
      },
      limits: () => ({ runsMax: 100, bytesMax: 1e6, encoding: "zstd" }),
      close: () => undefined,
    };
    const { collector } = await startCollector("http://127.0.0.1:1", { SPOOL_DIR: dir, ...ENV }, { backend });
    await collector.stop(); // uploads the rest
    assert.deepEqual(uploaded.sort(), [
      "stuck |  | prüfung | span 2.0 | 1",
      "stuck |  | prüfung | span 2.1 | 2",
      "stuck | workspace | default | orphan 3.1 | 2",
    ]);
    const { received, delivered, deadLettered, lost } = collector.accounting;
    assert.deepEqual([received, delivered, deadLettered.unreadable, lost.unreadable], [7, 7, 0, 0]);
  });

for (const suffix of ["log", "trees", "marks"])
  test(`recover.3 refuses a spool with a .${suffix} file of a newer format by name, and changes nothing in it`, async (t) => {
    const dir = await makeCopy(t, `v${SPOOL_FORMAT}`);
    mkdirSync(`${dir}/0000000000.log`); // unreadable: recovery would rename it
    writeFileSync(`${dir}/0000000009.marks`, ""); // orphaned: recovery would remove it
    const newer = encodePlainRecord(RECORD.file, { format: SPOOL_FORMAT + 1, segment: 1 });
    const path = `${dir}/0000000001.${suffix}`;
    writeFileSync(path, Buffer.concat([...newer, readFileSync(path)]));
    const before = readContents(dir);
    await assert.rejects(startCollector("http://127.0.0.1:1", { SPOOL_DIR: dir, ...ENV }), {
      name: "SpoolVersionError",
      message: new RegExp(`format ${SPOOL_FORMAT + 1}`),
    });
    assert.deepEqual(readContents(dir), before);
  });
