// The rules file as `holdpoint collector rules` reads it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const main = new URL("../../../holdpoint/src/main.ts", import.meta.url).pathname;

test("holdpoint collector rules checks the named file and counts the rules of every kind", async () => {
  const dir = await mkdtemp(join(tmpdir(), "holdpoint-rules-"));
  const file = join(dir, "rules.json");
  const rules = {
    redact: [{ name: "mail", detect: ["email"] }],
    drop: [{ span: "GET *" }, { span: "POST *" }],
    sample: { rate: 0.5, keep: [{ error: true }] },
    forward: [{ name: "other", endpoint: "http://127.0.0.1:9" }],
    limits: { default: { items_per_day: 10 } },
  };
  try {
    await writeFile(file, JSON.stringify(rules));
    const env = { PATH: process.env["PATH"], HOME: dir };
    const run = (): Promise<{ stdout: string }> =>
      promisify(execFile)(process.execPath, [main, "collector", "rules", file], { env, cwd: dir });
    assert.equal((await run()).stdout, `${file}: rules: 1 redact, 2 drop, 2 sample, 1 forward, 1 limit\n`);
    await writeFile(file, JSON.stringify({ ...rules, drop: [{}] }));
    await assert.rejects(run, /needs at least one of span, scope and attribute/);
  } finally {
    await rm(dir, { recursive: true });
  }
});
