// Test of `npm start`: the sample graphs with no configuration at all, on the usual port or the next free one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { join } from "node:path";
import { call, removeFolder, ROOT, temporaryFolder } from "./harness/server.ts";

test("dev serves the samples from an empty folder, and takes another port when the usual one is taken", async () => {
  const folder = temporaryFolder();
  const { PORT: _port, LANGGRAPH_CONFIG: _config, ...env } = process.env;
  const start = () =>
    spawn(process.execPath, [join(ROOT, "src", "main.ts"), "dev"], {
      cwd: folder,
      env: { ...env, HOLDPOINT_DATA_DIR: temporaryFolder(), LOG_JSON: "true" },
      stdio: ["ignore", "ignore", "pipe"],
    });
  const children = [start(), start()];
  try {
    const urls = await Promise.all(
      children.map(async (child) => {
        for await (const line of createInterface({ input: child.stderr })) {
          const url = /"event":"listening".*"url":"([^"]+)"/.exec(line)?.[1];
          if (url !== undefined) return url;
        }
        throw new Error("it ended before it listened");
      }),
    );
    assert.equal(new Set(urls).size, 2);
    for (const url of urls) assert.equal((await call({ url }, "GET", "/assistants/agent")).status, 200);
  } finally {
    for (const child of children) child.kill("SIGTERM");
    for (const child of children) if (child.exitCode === null) await once(child, "exit");
    removeFolder(folder);
  }
});
