// The files of a data folder, from outside. Checked:
//   DF1. A database or lock that is deleted under a running server is noticed: /ready is 503 and says so, calls that write
//        are refused, and none that was acknowledged is lost.
//   DF2. Everything that the product makes is its owner's alone, with the usual umask.
import assert from "node:assert/strict";
import { readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { holdpoint } from "./harness/cli.ts";
import { startServerHere } from "./harness/server-here.ts";
import { call, removeFolder, startServer, temporaryFolder } from "./harness/server.ts";

for (const name of ["holdpoint.db", "lock.db"]) {
  test(`${name} deleted under the server: /ready is 503 and writes are refused (DF1)`, async () => {
    const server = await startServerHere({ env: { DATABASE_URI: "" } });
    const [path, aside] = [join(server.dataDir, name), join(server.dataDir, "aside")];
    try {
      const threads: string[] = [];
      const make = () => call(server, "POST", "/threads", {});
      threads.push(((await make()).body as { readonly thread_id: string }).thread_id);
      renameSync(path, aside);
      const ready = await call(server, "GET", "/ready");
      assert.equal(ready.status, 503);
      assert.match(ready.text, new RegExp(`${name} was deleted`));
      assert.equal((await make()).status, 503);
      assert.equal((await call(server, "GET", `/threads/${threads[0]}`)).status, 200);
      assert.ok(server.logs.some(({ event }) => event === "data_files_gone"));
      renameSync(aside, path);
      assert.equal((await call(server, "GET", "/ready")).status, 200);
      assert.equal((await make()).status, 200);
    } finally {
      await server.stop();
      removeFolder(server.dataDir);
    }
  });
}

/** Every file and folder below, with its mode. */
function modes(folder: string): readonly (readonly [path: string, mode: number])[] {
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return ["", ...below].map((path) => [path, statSync(join(folder, path)).mode & 0o777]);
}

test("databases, locks, backups and exports are their owner's alone (DF2)", async () => {
  const umask = process.umask(0o022);
  const outside = temporaryFolder();
  const dataDir = join(outside, "data");
  try {
    const server = await startServer({ dataDir, env: { DATABASE_URI: "" } });
    assert.equal((await call(server, "POST", "/runs/wait", { assistant_id: "steps", input: {} })).status, 200);
    const backup = await holdpoint(["backup", join(outside, "copy.db"), "--data-dir", dataDir]);
    assert.equal(backup.code, 0, backup.err);
    const running = modes(outside);
    await server.stop();
    const moved = await holdpoint(["export", join(outside, "moved.jsonl"), "--data-dir", dataDir]);
    assert.equal(moved.code, 0, moved.err);
    const seen = new Map([...running, ...modes(outside)]);
    for (const name of ["data/holdpoint.db", "data/holdpoint.db-wal", "data/lock.db", "copy.db", "moved.jsonl"])
      assert.ok(seen.has(name), `${name} is among ${[...seen.keys()].join(" ")}`);
    for (const [path, mode] of seen) assert.equal(mode & 0o077, 0, `${path} has mode ${mode.toString(8)}`);
  } finally {
    process.umask(umask);
    removeFolder(outside);
  }
});
