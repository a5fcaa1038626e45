// The test files by what they need, and how long they take. `npm run test:all` runs every suite:
//   1. `npm test`: what a reader runs. Every new file belongs to it.
//   2. `npm run test:rest`, `npm run test:oldest`, `npm run test:e2e`: what a change must pass too. Every promise has a
//      test in 1 or 2.
//   3. `npm run test:long`: long forms, which run every night: files of their own, and those of `test:rest` again with
//      more seeds, kills and cases (harness/long.ts).
import { globSync } from "node:fs";

const ALL = "{packages,test}/**/*.test.ts";
/** `npm run test:e2e`: a browser, and the package as it is installed. */
const BROWSER = "test/e2e/";
/** Tests of tools and npm projects that `npm ci` of the root does not install. */
const OUTSIDE = "test/outside/";
/** A scheduler over PostgreSQL. */
const SIMULATION = "test/simulation/";
/** Processes that are killed, disks that fail. */
const FAULTS = "test/faults/";
/** Several server processes on one PostgreSQL. */
const CLUSTER = "test/cluster/";
/** Servers that are stopped and started again, many connections. */
const SLOW = ".slow.test.ts";
/** More of what a shorter test says. */
const LONG_FORM = ".long.test.ts";

const files: readonly string[] = globSync(ALL)
  .filter((path) => !/(?:^|\/)(?:node_modules|\.[^/]*)\//.test(path))
  .toSorted();
const isLong = (path: string): boolean => path.endsWith(LONG_FORM);
const isRest = (path: string): boolean =>
  !isLong(path) &&
  ([OUTSIDE, SIMULATION, FAULTS, CLUSTER].some((folder) => path.startsWith(folder)) || path.endsWith(SLOW));

/** What runs after `npm ci` of the root, wholly. */
const FIRST = files.filter((path) => !path.startsWith(BROWSER) && !isRest(path) && !isLong(path));

/** On the oldest supported LangGraph. */
const OLDEST: readonly string[] = [
  "test/interrupts/interrupts.test.ts",
  "test/interrupts/resume-rules.test.ts",
  "test/interrupts/reviewed-agent.test.ts",
  "test/agent/streaming.test.ts",
  "test/agent/thread-questions.test.ts",
  "test/outside/deep-agents.test.ts",
];
const OLDEST_LONG = [
  "test/interrupts/calls.test.ts",
  "test/agent/{assistants,saver-conformance.slow}.test.ts",
  "test/agent/thread-!(*.slow|*.long|questions).test.ts",
  "test/sdk/*.test.ts",
  "test/outside/client-*.test.ts",
].flatMap((pattern) => globSync(pattern));

/** The longest first: what begins last has nothing beside it. */
export const TAKES_LONG: readonly string[] = [
  "test/e2e/console.test.ts",
  "test/e2e/install.test.ts",
  "test/e2e/image.test.ts",
  "test/e2e/inbox.test.ts",
  "test/e2e/chat.test.ts",
  "test/e2e/inbox-mixed.test.ts",
  "test/e2e/inbox-text.test.ts",
  "test/e2e/traces.test.ts",
  "test/e2e/follow-pages.test.ts",
  "test/e2e/inbox-reading.test.ts",
  "test/e2e/inbox-keys.test.ts",
  "test/e2e/inbox-flow.test.ts",
  "test/e2e/inbox-views.test.ts",
  "test/e2e/sign-in.test.ts",
  "test/e2e/inbox-day.test.ts",
  "test/agent/encryption.slow.test.ts",
  "test/agent/erasure-remote.slow.test.ts",
  "test/promises/promises.slow.test.ts",
  "test/project/how-to.slow.test.ts",
  "test/project/canary.slow.test.ts",
];

export const SUITES = {
  first: FIRST,
  rest: files.filter(isRest),
  oldest: OLDEST,
  e2e: files.filter((path) => path.startsWith(BROWSER)),
  long: [
    ...files.filter(isRest),
    ...files.filter(isLong),
    ...["console", "image", "install", "inbox-keys"].map((name) => `test/e2e/${name}.test.ts`),
  ],
  "oldest-long": OLDEST_LONG,
};
