// Test of the events of the log: the table of the docs has each event that the code can log, and no other.
// Rule project/events.1: who meets a line of the log finds what it means.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../harness/server.ts";

/** A level, then the name of an event, or a choice of two. */
const LOGGED = /\.(?:debug|info|warning|error)\(\s*(?:\w+ \? )?"([a-z0-9_]+)"(?: : "([a-z0-9_]+)")?/g;
/** It leaves before there is a log. */
const BEFORE_THE_LOG = "start_failed";

function listLogged(): ReadonlySet<string> {
  const files = globSync("packages/*/src/**/*.ts", { cwd: ROOT }).filter(
    (path) => !/\.test\.ts$|\/contract\/|base\/src\/log\/log\.ts$/.test(path),
  );
  const found = files.flatMap((path) => [...readFileSync(join(ROOT, path), "utf8").matchAll(LOGGED)]);
  return new Set([
    BEFORE_THE_LOG,
    ...found.flatMap(([, one, other]) => [one, other].filter((name) => name !== undefined)),
  ]);
}

function listDocumented(): readonly string[] {
  const page = readFileSync(join(ROOT, "docs/reference/operations.md"), "utf8");
  const table = page.slice(page.indexOf("| event | level | meaning |")).split("\n\n")[0] ?? "";
  const cells = table
    .split("\n")
    .slice(2)
    .map((line) => line.split("|")[1] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, name = ""]) => name));
}

test("the table of events has each event of the code once, and no other (project/events.1)", () => {
  const [logged, documented] = [listLogged(), listDocumented()];
  assert.ok(logged.size > 100, `${logged.size} events found in the code`);
  assert.deepEqual([...logged].filter((name) => !documented.includes(name)).toSorted(), [], "not in the table");
  assert.deepEqual(
    documented.filter((name, at) => !logged.has(name) || documented.indexOf(name) !== at),
    [],
    "not in the code, or twice in the table",
  );
});
