// Tests of SIGTERM: a process ends within its grace period, even with hanging parts.
//   stop-hangs.1. A network that drops all packets: the waits for claims, the heartbeat and the connections have
//        limits.
//   stop-hangs.2. A part that never stops: the process exits with 1 and names the part. The same for the collector.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { startPostgresProxy } from "../fakes/postgres-proxy.ts";
import { within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { parseLine, ROOT, startServer, temporaryFolder } from "../harness/server.ts";

/** Some times the limits for hanging parts, a grace period and up to 10 s: only a stop without a limit is longer. */
const BOUND_MS = 60_000;
const GRACE = { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1" };
/** No listener ever reports its close. */
const NEVER_CLOSES = `data:text/javascript,${encodeURIComponent(
  'import net from "node:net"; net.Server.prototype.close = function () { return this; };',
)}`;

test("a server whose database connections hang ends in time (stop-hangs.1)", PATIENCE, async (t) => {
  const uri = await newDatabase();
  const proxy = await startPostgresProxy(uri);
  const fleet = new Fleet(proxy.uri);
  t.after(async () => {
    await fleet.end();
    await proxy.close();
  });
  const server = await fleet.start("all", { ...GRACE, LANGGRAPH_POSTGRES_POOL_MAX_SIZE: "4" });
  fleet.use(server);
  const { bench } = fleet;
  for (let at = 0; at < 3; at++) await bench.pause("ask");
  const thread = await bench.newThread();
  bench.hold(thread, "two");
  await bench.post(`/threads/${thread}/runs`, { assistant_id: "steps", input: {} });
  await bench.sees(thread, "two starts");
  proxy.stall();
  server.process.kill("SIGTERM");
  const [code, signal] = await within("the process ends", server.exited, BOUND_MS);
  assert.equal(signal, null);
  console.log(`SIGTERM with a database that does not answer: exit code ${code}`);
});

test("a server with a part that never stops ends with exit code 1 and names it (stop-hangs.2)", PATIENCE, async () => {
  const server = await startServer({ env: GRACE, nodeArgs: ["--import", NEVER_CLOSES] });
  server.process.kill("SIGTERM");
  const [code] = await within("the process ends", server.exited, BOUND_MS);
  assert.equal(code, 1, server.output());
  assert.match(server.output(), /"(stop_hung|stop_failed)".*http/);
});

test(
  "a collector with a part that never stops ends with exit code 1 and names it (stop-hangs.2)",
  PATIENCE,
  async () => {
    const child = spawn(
      process.execPath,
      ["--import", NEVER_CLOSES, join(ROOT, "packages/holdpoint/src/main.ts"), "collector"],
      {
        env: {
          ...process.env,
          HTTP_PORT: "0",
          TRACES_PORT: "0",
          HOLDPOINT_DATA_DIR: temporaryFolder(),
          LOG_JSON: "true",
          SHUTDOWN_TIMEOUT_MS: "1000",
        },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
    const told: Record<string, unknown>[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => {
      const entry = parseLine(line);
      if (entry === null) return;
      told.push(entry);
      if (entry["event"] !== "collector_started") return;
      const stop = (): boolean => child.kill("SIGTERM");
      fetch(new URL("/ready", String(entry["address"]))).then(stop, stop); // it takes signals by then
    });
    assert.equal(await within("the process ends", exited, BOUND_MS), 1, JSON.stringify(told));
    const last = told.find(({ event }) => event === "stop_hung" || event === "stop_failed");
    assert.match(JSON.stringify(last), /collector/);
  },
);
