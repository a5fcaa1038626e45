// `npm start`, as a newcomer runs it: agent server, collector and trace store in one process on free ports, with a
// temporary data folder, and the link that it prints.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { removeFolder, ROOT, temporaryFolder } from "./server.ts";

export interface Started {
  readonly url: string;
  /** The printed link to a page of the console. */
  readonly link: string;
  readonly threadId: string;
  /** Address of the collector. */
  readonly collectorUrl: string;
  /** Time until the link appeared. */
  readonly tookMs: number;
  /** Ends it as Ctrl-C does, and removes its data. @returns the exit code of npm. */
  stop(): Promise<number | null>;
}

const LINK = /(http:\/\/[^/\s]+)\/console\/inbox\/([0-9a-f-]{36})\/[0-9a-f]{32}/;
const COLLECTOR = /collector +(http:\/\/[^\s]+)/;

/** @throws {Error} with its output, when it ends before it prints the link. */
export async function npmStart(): Promise<Started> {
  const folder = temporaryFolder();
  const began = performance.now();
  const child = spawn("npm", ["start", "--silent", "--", "--no-browser"], {
    cwd: ROOT,
    env: { ...process.env, PORT: "0", HTTP_PORT: "0", TRACES_PORT: "0", HOLDPOINT_DATA_DIR: folder },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  let output = "";
  for await (const chunk of child.stdout) {
    output += String(chunk);
    const [link, url, threadId] = LINK.exec(output) ?? [];
    const collectorUrl = COLLECTOR.exec(output)?.[1];
    if (link === undefined || url === undefined || threadId === undefined || collectorUrl === undefined) continue;
    const tookMs = performance.now() - began;
    child.stdout.resume();
    return {
      url,
      link,
      threadId,
      collectorUrl,
      tookMs,
      async stop() {
        child.kill("SIGINT");
        const [code] = await exited;
        removeFolder(folder);
        return code;
      },
    };
  }
  throw new Error(`it ended before it said what waits:\n${output}`);
}
