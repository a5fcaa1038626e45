// The verb `audit`, against a server whose database somebody else changes.
// Checked:
//   cli-audit.1. A trail that only the server wrote is intact, and the anchor of one verification fits the next.
//   cli-audit.2. A changed and a missing entry are found while the server runs; the exit code is 1, and the fault names
//        the thread. So is one that was moved to the deleted ones before its time.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { verb, type Ended } from "../harness/cli.ts";
import { removeFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
before(async () => {
  server = await startServerHere();
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const run = (...args: readonly string[]): Promise<Ended> => verb(args, { env: { HOLDPOINT_URL: server.url } });

/** Pauses a run and answers it. @returns the id of its thread */
async function answered(): Promise<string> {
  const paused = await run("run", "echo", "--input", '{"payload": "Well?"}');
  const [, item = ""] = /holdpoint inbox answer ([0-9a-f]{12})/.exec(paused.out) ?? [];
  assert.equal((await run("inbox", "answer", item, "--text", "yes", "--wait")).code, 0);
  return paused.err.slice("thread ".length).trim();
}

test("audit verify finds what was changed past the server (cli-audit.1, cli-audit.2)", async () => {
  const thread = await answered();
  const other = await answered();
  const whole = await run("audit", "verify");
  assert.equal(whole.code, 0, whole.out);
  assert.match(whole.out, /^intact {2}3 entries and 0 digests of deleted ones, in \d chains?\nanchor {2}/);
  assert.equal((await run("threads", "delete", other, "--yes")).code, 0);
  const again = await run("audit", "verify", "--anchor", whole.out);
  assert.match(again.out, /^intact {2}3 entries and 1 digests/);
  assert.equal((await run("audit", "verify", "--anchor", "x")).code, 2);
  if (process.env["HOLDPOINT_TEST_STORAGE"] === "postgres") return; // there the storage's contract checks the rest

  const file = new DatabaseSync(join(server.dataDir, "holdpoint.db"));
  const row = file.prepare("SELECT * FROM audit WHERE thread_id = ?").get(thread) ?? assert.fail();
  file.exec(`INSERT INTO audit_deleted (chain, position, seq, digest, thread_id, at)
    SELECT chain, position, seq, digest, thread_id, at FROM audit; DELETE FROM audit`);
  const moved = await run("audit", "verify");
  assert.equal(moved.code, 1);
  assert.match(moved.out, /\nearly {6}chain 1, entry 1: entry 1 of thread acts-[0-9a-f]\n/); // the start of the server
  assert.ok(moved.out.includes(`early      chain 1, entry 2: entry 1 of thread ${thread}\n`));
  const columns = Object.keys(row);
  file
    .prepare(`INSERT INTO audit (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`)
    .run(...Object.values(row));
  file.exec("DELETE FROM audit_deleted WHERE position = 2");
  file.exec("DROP TRIGGER audit_is_never_changed; UPDATE audit SET by = 'eve'");
  const changed = await run("audit", "verify");
  assert.deepEqual(
    [changed.code, changed.out.split("\n")[1]],
    [1, `changed    chain 1, entry 2: entry 1 of thread ${thread}`],
  );
  file.exec("DELETE FROM audit; DELETE FROM audit_deleted");
  file.close();
  const missing = await run("audit", "verify");
  assert.deepEqual([missing.code, missing.out.split("\n")[1]], [1, "missing    chain 1, entries 1 to 4"]);
});
