// A collector with the local trace store, as `holdpoint collector` starts them without settings, in a process.
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../../harness/server.ts";

export interface CollectorWithStore {
  /** Address for traces. */
  readonly collector: string;
  readonly store: { readonly url: string };
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
}

/** @param folder of the store @param env further settings */
export async function startCollectorWithStore(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<CollectorWithStore> {
  const own = { HTTP_PORT: "0", TRACES_PORT: "0", HOLDPOINT_DATA_DIR: folder, LOG_JSON: "true" };
  const process_ = spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), "collector"], {
    env: { PATH: process.env["PATH"], ...own, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => process_.on("exit", resolve));
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    let store = "";
    createInterface({ input: process_.stderr }).on("line", (line) => {
      lines.push(line);
      if (!line.startsWith("{")) return;
      const entry = JSON.parse(line) as { readonly event: string; readonly url?: string; readonly address?: string };
      if (entry.event === "local_trace_store") store = entry.url ?? "";
      if (entry.event === "collector_started")
        resolve({ collector: entry.address ?? "", store: { url: store }, process: process_, exited });
    });
    void exited.then(() => reject(new Error(`it did not start:\n${lines.join("\n")}`)));
  });
}
