// Measuring: CPU time, medians, and running the parts of a benchmark as processes of their own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Ticks a second in /proc, on every Linux that Node runs on. */
const TICKS = 100;

/** CPU seconds of a process and its descendants, with those that have ended; null where there is no /proc. */
export function cpuSecondsOfTree(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0); // utime to cstime
    return listChildren(pid).reduce((sum, child) => sum + (cpuSecondsOfTree(child) ?? 0), own / TICKS);
  } catch {
    return null;
  }
}

/** Resident bytes of a process and its descendants; null where there is no /proc. */
export function residentBytesOfTree(pid: number): number | null {
  try {
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    return listChildren(pid).reduce((sum, child) => sum + (residentBytesOfTree(child) ?? 0), kilobytes * 1024);
  } catch {
    return null;
  }
}

function listChildren(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

/** Runs a script under this Node and parses the JSON it prints last. */
export async function runScript(script: string, args: readonly (string | number)[]): Promise<Record<string, number>> {
  const child = spawn(process.execPath, [script, ...args.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit") as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return JSON.parse(output.trim().split("\n").at(-1) ?? "{}") as Record<string, number>;
}
