// The command line as tests use it: a real process with nothing of our environment, and what it wrote.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./server.ts";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

export function holdpoint(args: readonly string[], { env = {}, input = "", cwd }: CliOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [join(ROOT, "src", "main.ts"), ...args], {
    env: { PATH: process.env["PATH"], ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.on("error", () => undefined); // it may end before it has read
  child.stdin.end(input);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

/** One JSON object a line; the caller says of what type. */
export function lines(text: string): readonly never[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as never);
}
