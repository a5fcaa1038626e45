// Dead letters on disk: durable from the end of their write, and nothing of a crash stays for ever.
import assert from "node:assert/strict";
import { mkdtemp, open, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test, type TestContext } from "node:test";
import type { Body } from "../encode/batch-body.ts";
import { createDeadLetters, listDeadLetters, readDeadLetter } from "./dead-letters.ts";

const BODY: Body = {
  tenant: { id: "hash", apiKey: "secret", tenantId: "" },
  createdMs: 1,
  boundary: "b",
  encoding: "identity",
  bytes: Buffer.from("runs"),
  rawBytes: 4,
  offsets: [0],
  first: 0,
};

async function makeFolder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-letters-`);
  t.after(() => rm(dir, { recursive: true }));
  return dir;
}

test("dead-letters.2 a letter survives a power cut: its folder is synced after its name appeared", async (t) => {
  const dir = await makeFolder(t);
  const probe = await open(dir);
  const handle = Object.getPrototypeOf(probe) as { sync: (this: typeof probe) => Promise<void> };
  const { sync } = handle;
  await probe.close();
  const seen: (readonly string[])[] = [];
  t.mock.method(handle, "sync", async function (this: typeof probe) {
    if ((await this.stat()).isDirectory()) seen.push(await readdir(dir));
    await sync.call(this);
  });
  await createDeadLetters(dir, () => 5, null).write(BODY, "too_old", "late");
  assert.deepEqual(
    seen.map((names) => names.map((name) => name.split(".")[1])),
    [["dead"]],
  );
  const letter = await readDeadLetter((await listDeadLetters(dir))[0] ?? "", null);
  assert.ok(typeof letter !== "string");
  assert.deepEqual([letter.cause, letter.reason], ["too_old", "late"]);
});

test("dead-letters.3 what a crash left of a write goes after an hour", async (t) => {
  const dir = await makeFolder(t);
  const now = Date.now();
  for (const [name, ageMs] of [
    ["old", 3_700_000],
    ["new", 60_000],
  ] as const) {
    await writeFile(`${dir}/${name}.part`, "torn");
    await utimes(`${dir}/${name}.part`, now / 1000, (now - ageMs) / 1000);
  }
  await createDeadLetters(dir, () => now, null).write(BODY, "too_old", "late");
  assert.deepEqual(
    (await readdir(dir)).filter((name) => name.endsWith(".part")),
    ["new.part"],
  );
});
