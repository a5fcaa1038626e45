// Local server: the addresses of the process that runs on a data folder, in a file of that folder.
// `holdpoint dev` and `holdpoint serve` write it; the commands read it, so that they call the server of their project
// and no other one that listens on a usual port.
// Invariants:
//   local-server.1. A process removes the file at its end only if the file is its own.
//   local-server.2. A file whose process has ended names no server.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface LocalServer {
  /** The id of the process that wrote the file. */
  readonly pid: number;
  /** The agent server, with its prefix. */
  readonly url: string;
  /** The trace store of the process; null if it has none. */
  readonly tracesUrl: string | null;
  readonly collectorUrl: string | null;
}

const serverFile = (dataDir: string): string => join(dataDir, "server.json");

/** @returns removes the file (local-server.1) */
export function writeLocalServer(dataDir: string, server: LocalServer): () => void {
  const file = serverFile(dataDir);
  const fresh = `${file}.${server.pid}`;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(fresh, `${JSON.stringify(server, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, file); // a reader sees the whole file or none
  return () => {
    if (read(file)?.pid === server.pid) rmSync(file, { force: true });
  };
}

/** Null without a running server (local-server.2). */
export function readLocalServer(dataDir: string, isRunning: (pid: number) => boolean = runs): LocalServer | null {
  const found = read(serverFile(dataDir));
  return found !== null && isRunning(found.pid) ? found : null;
}

function read(file: string): LocalServer | null {
  try {
    const { pid, url, tracesUrl, collectorUrl } = JSON.parse(readFileSync(file, "utf8")) as Partial<LocalServer>;
    if (!Number.isSafeInteger(pid) || pid === undefined || pid <= 0 || !isUrl(url)) return null;
    return {
      pid,
      url,
      tracesUrl: isUrl(tracesUrl) ? tracesUrl : null,
      collectorUrl: isUrl(collectorUrl) ? collectorUrl : null,
    };
  } catch {
    return null; // absent, or not written by this program
  }
}

const isUrl = (value: unknown): value is string => typeof value === "string" && /^https?:\/\//.test(value);

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it runs as another user
  }
}

/** `http://0.0.0.0:2024` → an address that a client on this machine can call. */
export function callable(url: string): string {
  return url.replace(/^(https?:\/\/)(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, "$1127.0.0.1");
}
