// The Python client: its own tests, with the Python of this machine. The tests of the bridge with LangGraph run where
// that package is installed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { ROOT } from "../harness/server.ts";

test("the tests of clients/python pass", PATIENCE, (t) => {
  const { status, stderr } = spawnSync("python3", ["-W", "error", "-m", "unittest", "discover", "-s", "tests", "-v"], {
    cwd: join(ROOT, "clients/python"),
    encoding: "utf8",
    env: { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1" },
  });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^Ran (?:2[0-9]|[3-9][0-9]) tests/m);
  const skipped = /skipped '([^']*)'/.exec(stderr)?.[1];
  if (skipped !== undefined) t.diagnostic(skipped);
});

test("the Python client has the version of the package", () => {
  const readText = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const { version } = JSON.parse(readText("package.json")) as { readonly version: string };
  assert.match(readText("clients/python/pyproject.toml"), new RegExp(`^version = "${version}"$`, "m"));
});
