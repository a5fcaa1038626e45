// The test files by what they need, and how long they take.
import { globSync } from "node:fs";

const ALL = "{packages,test}/**/*.test.ts";
/** `npm run test:e2e`: a browser, and the package as it is installed. */
const BROWSER = "test/e2e/";
/** Tests of tools and npm projects that `npm ci` of the root does not install. */
const OUTSIDE = "test/outside/";
/** A scheduler over PostgreSQL: a minute of CPU time for rules that other suites try by load. */
const SIMULATION = "test/simulation/";
/** Processes that are killed, disks that fail. */
const FAULTS = "test/faults/";
/** Several server processes on one PostgreSQL. */
const CLUSTER = "test/cluster/";
/** Large inputs, many connections. */
const LONG = ".long.test.ts";

const files: readonly string[] = globSync(ALL)
  .filter((path) => !/(?:^|\/)(?:node_modules|\.[^/]*)\//.test(path))
  .toSorted();
const isRest = (path: string): boolean =>
  [OUTSIDE, SIMULATION, FAULTS, CLUSTER].some((folder) => path.startsWith(folder)) || path.endsWith(LONG);

/** `npm test`: what runs after `npm ci` of the root, wholly. Every new file belongs to it. */
export const FIRST: readonly string[] = files.filter((path) => !path.startsWith(BROWSER) && !isRest(path));

/** `npm run test:rest`. */
export const REST: readonly string[] = files.filter(isRest);
