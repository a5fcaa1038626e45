// Runs test files in few processes: `node test/run.ts SUITE|FILE|PATTERN...`, where a suite is `first` (`npm test`) or
// `rest` (suites.ts). To load the server takes a second of CPU time, to start it once more in a process that has loaded
// it a twentieth of that.
//   test/run.1. Unit tests of all packages but the storage share a process. Files that start servers in their own process
//        (server-here.ts, world.ts) share two, one file after the other; tests of the storage share one, and those that start
//        collectors in their own process. Each other file has a process of its own; some of them run at a time.
//        `node --test FILE` runs any file alone.
//   test/run.2. A file that needs its process for itself is in ALONE.
//   test/run.3. The output of a shared process is printed when it ends, in one piece.
//   test/run.4. All run to their ends, with one PostgreSQL; the exit code is 1 when one of them fails.
//   test/run.5. In the suite `first` a skipped test is a failure.
//   test/run.6. Databases and projects of the tests are in one temporary folder. It stays after a failure, to be read.
//   test/run.7. The suite `first` keeps that folder in memory where there is room: its tests lose no power, and need not
//        wait for a disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { startPostgres } from "./harness/postgres/server.ts";
import { FIRST, REST } from "./suites.ts";

const isUnit = (file: string): boolean => /^packages\/(?!server\/src\/storage\/)/.test(file);
const isStorage = (file: string): boolean => file.startsWith("packages/server/src/storage/");
const isCollector = (file: string): boolean => file.startsWith("test/collector/");
const isAgent = (file: string): boolean => file.startsWith("test/agent/");
/** A new file joins the others of its folder, and changes nothing for those of the other processes. */
const SHARED_PROCESSES: readonly ((file: string) => boolean)[] = [
  isUnit,
  isAgent,
  isStorage,
  isCollector,
  (file) => ![isUnit, isAgent, isStorage, isCollector].some((has) => has(file)),
];
const CONCURRENT_FILES = 5;
/** Loading modules then takes few collections. */
const OPTIONS = ["--test", "--min-semi-space-size=16", "--test-timeout=400000"];
const NO_SKIPS = [
  "--test-reporter=spec",
  "--test-reporter-destination=stdout",
  "--test-reporter=./test/no-skips.ts",
  "--test-reporter-destination=stderr",
];

const MEMORY = "/dev/shm";
const MEMORY_BYTES_MIN = 2_000_000_000;

const ALONE: readonly string[] = [
  "test/agent/custom-app.test.ts", // its app inside finds the last server of the process
  "test/collector/collector-grpc.test.ts", // small queues, and how fast they are emptied
  "test/collector/collector-signals.test.ts", // the same
  "packages/server/src/storage/postgres/storage.test.ts", // it reads every statement of the process
];

const SERVER_HERE = /\/harness\/(?:server-here|channels\/world)\.ts"/;
const COLLECTOR_HERE = /\/fakes\/collector\.ts"/;

/** Runs with others in one process. */
function shares(file: string): boolean {
  if (ALONE.includes(file) || file.endsWith(".long.test.ts")) return false;
  if (file.startsWith("packages/")) return true;
  const here = isCollector(file) ? COLLECTOR_HERE : SERVER_HERE;
  return here.test(readFileSync(file, "utf8"));
}

const [, , ...named] = process.argv;
const folder = mkdtempSync(join(named.includes("first") ? findPlace() : tmpdir(), "holdpoint-tests-"));

/** test/run.7 */
function findPlace(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > MEMORY_BYTES_MIN ? MEMORY : tmpdir();
}

/** Resolves with true when all of them succeed. */
async function pass(
  files: readonly string[],
  options: readonly string[],
  stdout: "inherit" | "pipe",
): Promise<boolean> {
  if (files.length === 0) return true;
  const strict = named.includes("first") ? NO_SKIPS : [];
  const child = spawn(process.execPath, [...OPTIONS, ...strict, ...options, ...files], {
    stdio: ["ignore", stdout, "inherit"],
  });
  const ended = once(child, "close");
  if (child.stdout !== null) process.stdout.write(await buffer(child.stdout));
  const [code] = await ended;
  return code === 0;
}

function findFiles(name: string): readonly string[] {
  const found = name === "first" ? FIRST : name === "rest" ? REST : globSync(name);
  if (found.length === 0) throw new Error(`no test file is ${name}`);
  return found;
}

const files = [...new Set(named.flatMap(findFiles))].toSorted();
const sharing = files.filter(shares);
const groups = SHARED_PROCESSES.map((has) => sharing.filter(has));
const postgres = (process.env["DATABASE_URI"] ?? "") === "" ? await startPostgres() : null;
process.env["TMPDIR"] = folder; // the children inherit both
if (postgres !== null) process.env["HOLDPOINT_TEST_DATABASE_URI"] = postgres.uri;
const passed = await Promise.all([
  ...groups.map((group) => pass(group, ["--test-isolation=none"], "pipe")),
  pass(
    files.filter((file) => !sharing.includes(file)),
    [`--test-concurrency=${CONCURRENT_FILES}`],
    "inherit",
  ),
]);
await postgres?.stop();
if (passed.every(Boolean)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
else {
  console.error(`The files of the tests are in ${folder}.`);
  process.exitCode = 1;
}
