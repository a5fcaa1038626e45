// Runs test files in few processes: `node test/run.ts FILE|PATTERN...`. To load the server takes a second of CPU time,
// to start it once more in a process that has loaded it a twentieth of that.
//   test/run.1. Files that start servers in their own process (server-here.ts) share two processes, one file after the
//        other. Each other file has a process of its own; some of them run at a time. `node --test FILE` runs any file
//        alone.
//   test/run.2. A file that needs its process for itself is in ALONE.
//   test/run.3. The output of a shared process is printed when it ends, in one piece.
//   test/run.4. All run to their ends, with one PostgreSQL; the exit code is 1 when one of them fails.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { startPostgres } from "./harness/postgres/server.ts";

/** A new file joins the others of its folder, and changes nothing for those of the other process. */
const SHARED_PROCESSES: readonly ((file: string) => boolean)[] = [
  (file) => file.startsWith("test/agent/"),
  (file) => !file.startsWith("test/agent/"),
];
const CONCURRENT_FILES = 5;
/** Loading modules then takes few collections. */
const OPTIONS = ["--test", "--min-semi-space-size=16", "--test-timeout=400000"];

const ALONE: readonly string[] = [
  "test/agent/custom-app.test.ts", // its app inside finds the last server of the process
  "test/agent/thread-order.test.ts", // 10,000 deltas at once delay the timers of every other server
];

/** Starts servers in its process. */
function shares(file: string): boolean {
  return !ALONE.includes(file) && readFileSync(file, "utf8").includes('/harness/server-here.ts"');
}

/** Resolves with true when all of them succeed. */
async function pass(
  files: readonly string[],
  options: readonly string[],
  stdout: "inherit" | "pipe",
): Promise<boolean> {
  if (files.length === 0) return true;
  const child = spawn(process.execPath, [...OPTIONS, ...options, ...files], { stdio: ["ignore", stdout, "inherit"] });
  const ended = once(child, "close");
  if (child.stdout !== null) process.stdout.write(await buffer(child.stdout));
  const [code] = await ended;
  return code === 0;
}

function filesOf(pattern: string): readonly string[] {
  const found = globSync(pattern);
  if (found.length === 0) throw new Error(`no test file is ${pattern}`);
  return found;
}

const files = [...new Set(process.argv.slice(2).flatMap(filesOf))].toSorted();
const sharing = files.filter(shares);
const groups = SHARED_PROCESSES.map((has) => sharing.filter(has));
const postgres = (process.env["DATABASE_URI"] ?? "") === "" ? await startPostgres() : null;
if (postgres !== null) process.env["HOLDPOINT_TEST_DATABASE_URI"] = postgres.uri; // the children inherit it
const passed = await Promise.all([
  ...groups.map((group) => pass(group, ["--test-isolation=none"], "pipe")),
  pass(
    files.filter((file) => !sharing.includes(file)),
    [`--test-concurrency=${CONCURRENT_FILES}`],
    "inherit",
  ),
]);
await postgres?.stop();
process.exitCode = passed.every(Boolean) ? 0 : 1;
