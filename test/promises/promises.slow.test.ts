// The suite of promises, which runs on any server of the API.
//   promises.1. Holdpoint keeps all of them, also over kills and deploys: these have tests of their own in test/faults, and
//        are asked for in the long form.
//   promises.2. A server that says yes to everything keeps none.
//   promises.3. A server that does not start again ends the asking: what it was not asked is no "no".
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../harness/postgres/free-port.ts";
import { PATIENCE } from "../harness/patience.ts";
import { IS_LONG } from "../harness/long.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, startServer, temporaryFolder } from "../harness/server.ts";
import { askPromises, type Row } from "./promises.mjs";

const findConfig = (graphs: string): string => join(import.meta.dirname, graphs, "langgraph.json");

/** With one process, as often as a promise needs another one. */
async function askOverRestarts(): Promise<readonly Row[]> {
  const env = { PORT: String(await freePort()) };
  const dataDir = temporaryFolder();
  const start = (graphs: string) => startServer({ config: findConfig(graphs), env, dataDir });
  let server = await start("graphs");
  try {
    return await askPromises({
      url: server.url,
      async restart(graphs, signal) {
        if (signal === "SIGKILL") await server.kill();
        else await server.stop();
        server = await start(graphs);
      },
    });
  } finally {
    await server.stop();
    removeFolder(dataDir);
  }
}

async function askHere(): Promise<readonly Row[]> {
  const server = await startServerHere({ config: findConfig("graphs") });
  try {
    return await askPromises({ url: server.url });
  } finally {
    await server.stop();
    removeFolder(server.dataDir);
  }
}

test("Holdpoint keeps every promise that one process can keep (promises.1)", PATIENCE, async () => {
  const rows = await (IS_LONG ? askOverRestarts() : askHere());
  assert.deepEqual(
    rows.filter(({ kept }) => kept === false),
    [],
  );
  assert.equal(rows.filter(({ kept }) => kept === true).length, IS_LONG ? 18 : 15);
});

async function sayYes(ask: (url: string) => Promise<void>): Promise<void> {
  const yes = createServer((_request, response) => response.end('{"thread_id":"one"}')).listen(0, "127.0.0.1");
  await once(yes, "listening");
  try {
    await ask(`http://127.0.0.1:${(yes.address() as AddressInfo).port}`);
  } finally {
    yes.close();
  }
}

test("a server that says yes to everything keeps none (promises.2)", PATIENCE, () =>
  sayYes(async (url) => {
    const rows = await askPromises({ url, second: url, restart: async () => undefined });
    assert.deepEqual(
      rows.filter(({ kept }) => kept !== false),
      [],
    );
    for (const { reason, request } of rows) assert.ok(reason !== "" && request.includes("→ 200"), reason);
  }),
);

test("a server that does not start again ends the asking (promises.3)", PATIENCE, () =>
  sayYes(async (url) => {
    const restart = () => Promise.reject(new Error("no port"));
    const asked = askPromises({ url, restart, only: "A run that was accepted" });
    await assert.rejects(asked, /did not start again, so nothing more was asked of it: no port/);
  }),
);
