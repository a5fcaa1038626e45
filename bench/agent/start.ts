// Start: time from the spawn of a server to its first /ok, next to the time Node takes to import LangGraph alone.
// Prints one JSON line. Argument: number of rounds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../measure.ts";
import { MAIN, ROOT } from "./server.ts";

const rounds = Number(process.argv[2] ?? 5);
const port = 20_000 + (process.pid % 20_000);

async function importOnly(): Promise<number> {
  const startedAt = performance.now();
  const script = 'await import("@langchain/langgraph")';
  await once(spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: ROOT }), "exit");
  return performance.now() - startedAt;
}

async function startToOk(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
  const startedAt = performance.now();
  const args = ["serve", "--config", join(ROOT, "bench/graphs/langgraph.json")];
  const env = { ...process.env, PORT: String(port), HOLDPOINT_DATA_DIR: folder, LOG_LEVEL: "error" };
  const server = spawn(MAIN, args, { env, stdio: "ignore" });
  for (;;) {
    const ok = await fetch(`http://127.0.0.1:${port}/ok`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const elapsed = performance.now() - startedAt;
  server.kill("SIGKILL");
  await once(server, "exit");
  rmSync(folder, { recursive: true });
  return elapsed;
}

await importOnly();
await startToOk();
const imports: number[] = [];
const starts: number[] = [];
for (let round = 0; round < rounds; round++) {
  imports.push(await importOnly());
  starts.push(await startToOk());
}
console.log(JSON.stringify({ importMs: median(imports), startMs: median(starts) }));
