// Tests of how services begin and end as processes.
// Rules:
//   cli/service-ends.1. Why a service did not start is a line of JSON where its log is JSON, else text; the exit code is
//        the same.
//   cli/service-ends.2. A closed terminal (SIGHUP) stops a service as SIGTERM does.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { suite, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const MAIN = join(ROOT, "packages/holdpoint/src/main.ts");
const PROGRAMS = [
  ["serve", [MAIN, "serve"], "holdpoint: "],
  ["dev", [MAIN, "dev"], "holdpoint: "],
  ["collector", [MAIN, "collector"], "holdpoint: "],
  ["the collector alone", [join(ROOT, "packages/collector/src/main.ts")], "holdpoint-collector: "],
] as const;

function run(args: readonly string[], env: Readonly<Record<string, string>>, folder: string) {
  const child = spawn(process.execPath, [...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, HOLDPOINT_DATA_DIR: join(folder, "data"), ...env },
  });
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdout.resume();
  return {
    child,
    ended: once(child, "close").then(([code]) => ({ code: code as number | null, err })),
    said: () => err,
  };
}

suite("a start that fails (cli/service-ends.1)", PATIENCE, () => {
  for (const [name, args, prefix] of PROGRAMS)
    for (const form of ["true", "false", ""])
      test(`of ${name} with LOG_JSON=${form}`, async (t) => {
        const folder = temporaryFolder();
        t.after(() => removeFolder(folder));
        const { code, err } = await run(args, { LOG_LEVEL: "loud", LOG_JSON: form }, folder).ended;
        assert.equal(code, 78, err);
        if (form === "false") return assert.ok(err.startsWith(prefix) && err.includes("LOG_LEVEL"), err);
        const lines = err.trimEnd().split("\n");
        assert.equal(lines.length, 1, err);
        const entry = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
        assert.deepEqual([entry["level"], entry["event"], entry["exit_code"]], ["error", "start_failed", 78]);
        assert.match(String(entry["reason"]), /LOG_LEVEL/);
      });
});

test("a command that a person runs fails in text", async (t) => {
  const folder = temporaryFolder();
  t.after(() => removeFolder(folder));
  const { code, err } = await run([MAIN, "inbox", "ls", "--url", "http://127.0.0.1:1"], {}, folder).ended;
  assert.notEqual(code, 0);
  assert.match(err, /^holdpoint: /);
});

suite("signals (cli/service-ends.2)", PATIENCE, () => {
  for (const signal of ["SIGHUP", "SIGTERM"] as const)
    test(`${signal} stops the server cleanly`, async (t) => {
      const folder = temporaryFolder();
      t.after(() => removeFolder(folder));
      const config = join(ROOT, "test/graphs/langgraph.json");
      const { child, ended, said } = run([MAIN, "serve", "--config", config], { PORT: "0", LOG_JSON: "true" }, folder);
      while (!said().includes('"event":"listening"')) await once(child.stderr, "data");
      child.kill(signal);
      const { code, err } = await ended;
      assert.equal(code, 0, err);
      assert.match(err, new RegExp(`"event":"stopping","signal":"${signal}"`));
      assert.match(err, /"event":"stopped"/);
    });
});
