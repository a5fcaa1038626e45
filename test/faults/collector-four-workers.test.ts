// The tests of the collector that depend on threads, with four worker threads: the same files as with one, each in a
// process of its own. HOLDPOINT_FAULTS=full: all of them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const SHORT = ["faults/collector-kill", "faults/collector-forms", "collector/collector-logs"];
const FULL = [
  ...SHORT,
  "faults/collector-hostile",
  "faults/collector-logs",
  "faults/collector-soak",
  "faults/collector-spool",
  "collector/collector-delivery",
  "collector/collector-grpc",
  "collector/collector-operate",
  "collector/collector-receiver",
];

for (const file of process.env["HOLDPOINT_FAULTS"] === "full" ? FULL : SHORT)
  test(`${file} with four workers`, async () => {
    const path = fileURLToPath(new URL(`../${file}.test.ts`, import.meta.url));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, ["--test", path], {
      env: { ...env, HOLDPOINT_TEST_WORKERS: "4" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const endWithUs = (): void => void child.kill("SIGKILL");
    process.once("exit", endWithUs);
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    process.off("exit", endWithUs);
    assert.equal(code, 0, out);
    assert.match(out, /pass [1-9]/);
  });
