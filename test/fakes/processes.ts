// Starts collectors as processes, and sees to it that none outlives its test.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { runKeys } from "./keys.ts";

const ENTRY = fileURLToPath(new URL("collector-process.ts", import.meta.url));

export interface CollectorProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly log: () => string;
  /** After a full garbage collection. `fds` is 0 where the system does not say. */
  readonly measure: () => Promise<{ readonly heapBytes: number; readonly rssBytes: number; readonly fds: number }>;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
}

/** null: it ended before it listened (killed on the way, or it refused to start: `said` holds its words). */
export async function startCollectorProcess(
  env: Readonly<Record<string, string>>,
  said: string[] = [],
  /** A wrapper command, e.g. strace with its arguments. */
  under: readonly string[] = [],
): Promise<CollectorProcess | null> {
  const [command, ...args] = [...under, process.execPath, ENTRY];
  const child = spawn(command ?? "", args, {
    env: {
      PATH: process.env["PATH"],
      HTTP_PORT: "0",
      FLUSH_INTERVAL_MS: "20",
      RETRY_BACKOFF_MS: "1",
      orphanTimeoutMs: "50",
      ...runKeys,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const endWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithUs);
  child.once("exit", () => process.off("exit", endWithUs));
  child.stderr.on("data", (chunk: Buffer) => void said.push(chunk.toString()));
  const ended = once(child, "close").then(([code, signal]: unknown[]) => (code as number | null) ?? (signal as string));
  const line = await Promise.race([
    once(child.stdout, "data").then(([chunk]) => String(chunk)),
    ended.then(() => null),
  ]);
  if (line === null) return null;
  const { port } = JSON.parse(line) as { port: number };
  const measure: CollectorProcess["measure"] = async () => {
    const answer = once(child.stdout, "data");
    child.kill("SIGUSR2");
    return JSON.parse(String((await answer)[0])) as Awaited<ReturnType<CollectorProcess["measure"]>>;
  };
  return { child, url: `http://127.0.0.1:${port}`, log: () => said.join(""), measure, ended };
}
