// Runs test files in few processes: `node test/run.ts SUITE|FILE|PATTERN...`, where a suite is one of suites.ts: `first` is
// `npm test`. To load the server takes a second of CPU time, to start it once more in a process that has loaded
// it a twentieth of that.
//   test/run.1. Unit tests of all packages but the storage share a process with the tests of the project, and so do those of
//        the collector without processes. Files that start servers in their own process (server-here.ts, world.ts,
//        createHoldpoint) share five, one file after the other; tests of the storage share one. Files of the console
//        share two, and a browser in each. Each other file has a process of its own; some of them run at a time, those
//        that take long first. `node --test FILE` runs any file alone.
//   test/run.2. A file that needs its process for itself is in ALONE, or has a bench of faults.
//   test/run.3. The output of a shared process is printed when it ends, in one piece. What failed is repeated at the end.
//   test/run.4. All run to their ends, with one PostgreSQL; the exit code is 1 when one of them fails. A test that fails
//        may leave a server open: the process ends without it.
//   test/run.5. In the suite `first` a skipped test is a failure.
//   test/run.6. Databases and projects of the tests are in one temporary folder. It stays after a failure, to be read.
//   test/run.7. All suites but `long` keep that folder in memory where there is room: their tests kill processes, and cut no
//        power, so they need not wait for a disk.
//   test/run.8. The package is built before the tests that install it, once.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { inspect } from "node:util";
import { buildPackage } from "./e2e/build-package.ts";
import { startPostgres } from "./harness/postgres/server.ts";
import noSkips from "./no-skips.ts";
import { SUITES, TAKES_LONG } from "./suites.ts";

/** They read files, and load what unit tests load. */
const isProject = (file: string): boolean => /^test\/project\/(?!errors|loading)/.test(file);
const isUnit = (file: string): boolean => isProject(file) || /^packages\/(?!server\/src\/storage\/)/.test(file);
const isStorage = (file: string): boolean => file.startsWith("packages/server/src/storage/");
const isCollector = (file: string): boolean => file.startsWith("test/collector/");
const isAgent = (file: string): boolean => file.startsWith("test/agent/");
const isBrowser = (file: string): boolean => file.startsWith("test/e2e/");
/** A new file joins the others of its folder, and changes nothing for those of the other processes. */
const ONE_PROCESS = [isUnit, isStorage, isCollector] as const;
const isOther = (file: string): boolean => ![...ONE_PROCESS, isAgent, isBrowser].some((has) => has(file));
/** Each with the number of processes that take about as long as those above. More browsers take each other's time. */
const SEVERAL_PROCESSES = [
  [isAgent, 2],
  [isOther, 3],
  [isBrowser, 2],
] as const;
const CONCURRENT_FILES = 6;
/** Beside all others, and they wait for the registry. */
const CONCURRENT_PACKAGES = 3;
const TIMEOUT_MS = 400_000;
/** Loading modules then takes few collections. */
const YOUNG_GENERATION = "--min-semi-space-size=16";
/** test/run.4 */
const FORCE_EXIT = "--test-force-exit";
const OPTIONS = ["--test", "--test-isolation=none", FORCE_EXIT, YOUNG_GENERATION, `--test-timeout=${TIMEOUT_MS}`];
const NO_SKIPS = [
  "--test-reporter=spec",
  "--test-reporter-destination=stdout",
  "--test-reporter=./test/no-skips.ts",
  "--test-reporter-destination=stderr",
];

const MEMORY = "/dev/shm";
const FIRST_BYTES_MIN = 2_000_000_000;
/** With the projects that the tests of the package install. */
const REST_BYTES_MIN = 10_000_000_000;

const ALONE: readonly string[] = [
  "test/e2e/hooks.test.ts", // beside other pages of the console its reload never came to rest
  "test/collector/collector-grpc.test.ts", // small queues, and how fast they are emptied
  "test/collector/collector-signals.test.ts", // the same
  "packages/server/src/storage/postgres/storage.test.ts", // it reads every statement of the process
];

/** Files with a page of the console. */
const CONSOLE_HERE = /\b(?:startConsole|startServerHere)\b/;
const SERVER_HERE = /from "\S+\/(?:harness\/(?:server-here|channels\/world)|exports\/(?:create|open)-holdpoint)\.ts"/;
const COLLECTOR_HERE = /\/fakes\/collector\.ts"|from "@holdpoint\/collector\/(?:otlp|encode|translate)\//;

/** Its graphs find the folder of their bench in the environment of the process. */
const HAS_BENCH = /\bnew (?:Bench|Fleet)\(/;

/** Runs with others in one process. */
function shares(file: string): boolean {
  if (ALONE.includes(file) || file.endsWith(".long.test.ts")) return false;
  if (file.startsWith("packages/") || isProject(file)) return true;
  const here = isCollector(file) ? COLLECTOR_HERE : isBrowser(file) ? CONSOLE_HERE : SERVER_HERE;
  const text = readFileSync(file, "utf8");
  return here.test(text) && !HAS_BENCH.test(text);
}

/** Where the reporter begins to repeat what failed. */
const FAILURES = "failing tests:";

const [, , ...named] = process.argv;
const isFirst = named.includes("first");
const failures: string[] = [];
const folder = mkdtempSync(join(named.includes("long") ? tmpdir() : findPlace(), "holdpoint-tests-"));

/** test/run.7 */
function findPlace(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  const room = Math.min(bavail * bsize, process.availableMemory());
  return room > (isFirst ? FIRST_BYTES_MIN : REST_BYTES_MIN) ? MEMORY : tmpdir();
}

function sortLongFirst(files: readonly string[]): readonly string[] {
  const ranks = new Map(TAKES_LONG.map((file, at) => [file, at]));
  const rank = (file: string): number => ranks.get(file) ?? TAKES_LONG.length;
  return files.toSorted((one, other) => rank(one) - rank(other));
}

/** Lists that take about as long: forth and back, so that none gets the longer file of every round. */
function deal(files: readonly string[], lists: number): readonly (readonly string[])[] {
  const findList = (at: number): number => (Math.floor(at / lists) % 2 === 0 ? at % lists : lists - 1 - (at % lists));
  return Array.from({ length: lists }, (_, list) => files.filter((_file, at) => findList(at) === list));
}

/** In one process. Resolves with true when all of them succeed. */
async function passTogether(files: readonly string[]): Promise<boolean> {
  if (files.length === 0) return true;
  const child = spawn(process.execPath, [...OPTIONS, ...(isFirst ? NO_SKIPS : []), ...files], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const output = await text(child.stdout);
  process.stdout.write(output);
  const [code, signal] = await ended;
  if (code === 0) return true;
  const at = output.lastIndexOf(FAILURES);
  const found = at === -1 ? "No test of it failed." : output.slice(at);
  failures.push(`A process of ${files.length} files ended with ${signal ?? code}: ${files.join(" ")}\n${found}`);
  return false;
}

/** Each in a process of its own. */
async function passAlone(files: readonly string[], concurrency: number): Promise<boolean> {
  if (files.length === 0) return true;
  let passed = true;
  const tests = run({
    files: sortLongFirst(files),
    concurrency,
    timeout: TIMEOUT_MS,
    execArgv: [YOUNG_GENERATION, FORCE_EXIT],
  });
  tests.on("test:fail", ({ name, file, details }) => {
    passed = false;
    failures.push(`${file}: ${name}\n${inspect(details.error)}`);
  });
  const ended = once(tests, "end");
  tests.compose(new spec()).pipe(process.stdout);
  if (isFirst) tests.compose(noSkips).pipe(process.stderr);
  await ended;
  return passed;
}

function findFiles(name: string): readonly string[] {
  const found = Object.hasOwn(SUITES, name) ? SUITES[name as keyof typeof SUITES] : globSync(name);
  if (found.length === 0) throw new Error(`no test file is ${name}`);
  return found;
}

const files = [...new Set(named.flatMap(findFiles))].toSorted();
const sharing = files.filter(shares);
const groups = [
  ...ONE_PROCESS.map((has) => sharing.filter(has)),
  ...SEVERAL_PROCESSES.flatMap(([has, lists]) => deal(sortLongFirst(sharing.filter(has)), lists)),
];
const postgres = (process.env["DATABASE_URI"] ?? "") === "" ? await startPostgres() : null;
process.env["TMPDIR"] = folder; // the children inherit both
if (postgres !== null) process.env["HOLDPOINT_TEST_DATABASE_URI"] = postgres.uri;
if (files.some(isBrowser)) await buildPackage(); // test/run.8
const alone = files.filter((file) => !sharing.includes(file));
const passed = await Promise.all([
  ...groups.map(passTogether),
  passAlone(
    alone.filter((file) => !isBrowser(file)),
    CONCURRENT_FILES,
  ),
  passAlone(alone.filter(isBrowser), CONCURRENT_PACKAGES),
]);
await postgres?.stop();
if (passed.every(Boolean)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
else {
  for (const failure of failures) console.error(failure);
  console.error(`The files of the tests are in ${folder}.`);
  process.exitCode = 1;
}
