// Peer: the dev server of LangGraph.js itself, the same graph, the same load. Its packages have a lock of their own
// (bench/peers) and are installed only when the comparison is asked for.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cpuSecondsOfTree, runScript } from "../measure.ts";

const FOLDER = join(import.meta.dirname, "../peers");

/** @returns CPU seconds of the peer's processes per cycle. Linux only: reads /proc. */
export async function measurePeer(cycles: number): Promise<number> {
  if (!existsSync(join(FOLDER, "node_modules"))) {
    console.log("installing the peer …");
    execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: FOLDER, stdio: "ignore" });
  }
  const port = 21_000 + (process.pid % 10_000);
  const peer = spawn(process.execPath, [join(FOLDER, "serve.mjs"), String(port)], { cwd: FOLDER, stdio: "ignore" });
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilOk(url);
    const client = join(import.meta.dirname, "client.ts");
    await runScript(client, [url, 32, 32, 1000, "bench", "cycle"]);
    const before = cpuSecondsOfTree(peer.pid ?? 0) ?? Number.NaN;
    await runScript(client, [url, cycles, 32, 1000, "bench", "cycle"]);
    return ((cpuSecondsOfTree(peer.pid ?? 0) ?? Number.NaN) - before) / cycles;
  } finally {
    peer.kill("SIGKILL");
    await once(peer, "exit");
  }
}

async function untilOk(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const ok = await fetch(`${url}/ok`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the peer did not start");
}
