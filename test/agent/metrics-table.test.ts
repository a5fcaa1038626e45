// Test of the table of metrics in docs/reference/agent-server.md: each metric of a running server stands there, and no
// other. The collector's is checked in packages/collector/src/metrics/metrics-table.test.ts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";

function listDocumented(): readonly string[] {
  const page = readFileSync(join(ROOT, "docs/reference/agent-server.md"), "utf8");
  const table = page.slice(page.indexOf("| metric | counts |")).split("\n\n")[0] ?? "";
  const cells = table.split("\n").slice(2);
  return cells.flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name));
}

test("the table of metrics has each metric of a server once, and no other", async (t) => {
  const server = await startServerHere();
  t.after(async () => {
    await server.stop();
    removeFolder(server.dataDir);
  });
  const { text } = await call(server, "GET", "/metrics");
  const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
  const own = names.filter((name) => !/^(nodejs|process)_/.test(name));
  assert.ok(own.length > 10, `${own.length} metrics`);
  assert.deepEqual(listDocumented().toSorted(), own.toSorted());
});
