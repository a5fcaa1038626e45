// Peers: other servers of the same API, each a process of its own. Their packages have a lock of their own (bench/peers)
// and are installed only when a comparison is asked for.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/harness/postgres/free-port.ts";

const FOLDER = join(import.meta.dirname, "../peers");
/** No promise is about the time of a start: on a busy machine one took more than a minute. */
const LIMIT_MS = 180_000;

export type PeerKind = "reference" | "pure-graph";

/** Name and version, as a table shows them. */
export const PEERS: Readonly<Record<PeerKind, { readonly name: string; readonly package: string }>> = {
  reference: { name: "`langgraphjs dev`", package: "@langchain/langgraph-api" },
  "pure-graph": { name: "`pure-graph`", package: "@langgraph-js/pure-graph" },
};

export interface Started {
  readonly url: string;
  readonly pid: number;
  /** @param signal `SIGKILL` by default */
  kill(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
}

export interface PeerOptions {
  readonly kind: PeerKind;
  /** Folder with a langgraph.json, whose files import LangGraph alone. */
  readonly graphs: string;
  readonly dataFolder: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export function installPeers(): void {
  if (existsSync(join(FOLDER, "node_modules"))) return;
  console.log("installing the peers …");
  execFileSync("npm", ["ci", "--ignore-scripts", "--legacy-peer-deps"], { cwd: FOLDER, stdio: "ignore" });
}

export function readPeerVersion(name: string): string {
  const manifest = readFileSync(join(FOLDER, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

/** A copy of the graphs below bench/peers, so that they import the peers' own LangGraph. */
export function copyGraphs(graphs: string, name: string): string {
  const copy = join(FOLDER, ".graphs", name);
  rmSync(copy, { recursive: true, force: true });
  cpSync(graphs, copy, { recursive: true });
  return copy;
}

/** Resolves when it replies. */
export async function startPeer({ kind, graphs, dataFolder, port, env = {} }: PeerOptions): Promise<Started> {
  const at = port ?? (await freePort());
  const args = [join(FOLDER, "serve.mjs"), kind, String(at), graphs, dataFolder];
  const child = spawn(process.execPath, args, { cwd: FOLDER, stdio: "ignore", env: { ...process.env, ...env } });
  return awaitStart(child, `http://127.0.0.1:${at}`);
}

/** @returns the server, once /ok replies */
export async function awaitStart(child: ChildProcess, url: string): Promise<Started> {
  const until = performance.now() + LIMIT_MS;
  for (;;) {
    const ok = await fetch(`${url}/ok`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) break;
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > until) {
      child.kill("SIGKILL");
      throw new Error(`the server at ${url} did not start`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return {
    url,
    pid: child.pid ?? 0,
    async kill(signal = "SIGKILL") {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, "exit");
    },
  };
}
