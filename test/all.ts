// All tests that need no browser: `npm test`. The unit tests run in one process, which keeps one core busy at most, so
// they run beside the integration tests, which often wait.
//   test/all.1. The output of the unit tests is printed when they end, in one piece.
//   test/all.2. Both run to their ends; the exit code is 1 when one of them fails.
//   test/all.3. Databases and projects of the tests are in one temporary folder. It stays after a failure, to be read.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-tests-"));

/** Resolves with true when the npm script succeeds. */
async function passes(script: string, stdout: "inherit" | "pipe"): Promise<boolean> {
  const child = spawn("npm", ["run", "--silent", script], {
    stdio: ["ignore", stdout, "inherit"],
    env: { ...process.env, TMPDIR: folder },
  });
  const ended = once(child, "close");
  if (child.stdout !== null) process.stdout.write(await buffer(child.stdout));
  const [code] = await ended;
  return code === 0;
}

const passed = await Promise.all([passes("test:unit", "pipe"), passes("test:integration", "inherit")]);
if (passed.every(Boolean)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
else {
  console.error(`The files of the tests are in ${folder}.`);
  process.exitCode = 1;
}
