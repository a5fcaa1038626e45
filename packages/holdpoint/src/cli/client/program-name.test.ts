// Tests of the program's name in printed commands: a shell runs them as printed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { programName } from "./program-name.ts";

for (const [name, script, env, expected] of [
  ["a global installation", "/usr/local/bin/holdpoint", {}, "holdpoint"],
  ["npx in a project", "/app/node_modules/.bin/holdpoint", { npm_command: "exec" }, "npx holdpoint"],
  [
    "npx without a project",
    "/home/a/.npm/_npx/1f/node_modules/.bin/holdpoint",
    { npm_command: "exec" },
    "npx holdpoint",
  ],
  ["the link in a project", "/app/node_modules/.bin/holdpoint", {}, "npx holdpoint"],
  ["the link on Windows", "C:\\app\\node_modules\\.bin\\holdpoint", {}, "npx holdpoint"],
  ["a script of a project", "/app/node_modules/.bin/holdpoint", { npm_lifecycle_event: "dev" }, "npx holdpoint"],
  [
    "a script of a clone",
    "/clone/packages/holdpoint/src/main.ts",
    { npm_lifecycle_event: "start" },
    "npm run holdpoint --",
  ],
  ["the sources of a clone, in it", "/clone/packages/holdpoint/src/main.ts", {}, "node packages/holdpoint/src/main.ts"],
  [
    "the sources of a clone beside it",
    "/other/packages/holdpoint/src/main.ts",
    {},
    "node /other/packages/holdpoint/src/main.ts",
  ],
  [
    "the sources in a folder with a space",
    "/my clone/packages/holdpoint/src/main.ts",
    {},
    'node "/my clone/packages/holdpoint/src/main.ts"',
  ],
] as const)
  test(`${name} is called as ${expected}`, () => assert.equal(programName(script, env, "/clone"), expected));
