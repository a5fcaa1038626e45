// A server to measure: a separate process on its own data folder; its CPU time, memory and bound text come from
// /metrics.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { cpuSecondsOfTree } from "../measure.ts";
import type { SqlCounts } from "./count-sql.ts";

export const ROOT = join(import.meta.dirname, "../..");
/** A command, with the flag of its first line. */
export const MAIN = join(ROOT, "packages/holdpoint/src/main.ts");

export interface MeasuredServer {
  readonly url: string;
  readonly folder: string;
  readonly pid: number;
  /** CPU seconds of the process and its children, resident bytes and characters bound to SQL since the start. */
  metrics(): Promise<{ readonly cpuSeconds: number; readonly residentBytes: number; readonly boundUnits: number }>;
  /** Statements and round trips since the start, of a server that was started to count them. */
  counts(): Promise<SqlCounts>;
  stop(): Promise<void>;
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
}

export async function startServer(
  folder = temporaryFolder(),
  more: Readonly<Record<string, string>> = {},
  options: { readonly countSql?: boolean; readonly config?: string } = {},
): Promise<MeasuredServer> {
  const { countSql = false, config = join(ROOT, "bench/graphs/langgraph.json") } = options;
  const counter = countSql ? { NODE_OPTIONS: `--import=${join(import.meta.dirname, "count-sql.ts")}` } : {};
  const own = { PORT: "0", HOLDPOINT_DATA_DIR: folder, LOG_JSON: "true", LOG_LEVEL: "info" };
  const child = spawn(MAIN, ["serve", "--config", config], {
    env: { ...process.env, ...own, ...counter, ...more },
    stdio: ["ignore", "ignore", "pipe", countSql ? "ipc" : "ignore"],
  });
  const url = await listening(child);
  return {
    url,
    folder,
    pid: child.pid ?? 0,
    async metrics() {
      const text = await (await fetch(`${url}/metrics`)).text();
      const value = (name: string): number => Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
      return {
        cpuSeconds: cpuSecondsOfTree(child.pid ?? 0) ?? value("process_cpu_seconds_total"),
        residentBytes: value("process_resident_memory_bytes"),
        boundUnits: value("storage_bound_characters"),
      };
    },
    async counts() {
      const answer = once(child, "message") as Promise<[SqlCounts]>;
      child.send("counts");
      return (await answer)[0];
    },
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stderr === null) throw new Error("no output to read");
    createInterface({ input: child.stderr }).on("line", (line) => {
      const url = /"url":"([^"]+)"/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
