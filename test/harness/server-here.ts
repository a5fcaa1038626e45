// A real server in the tests' own process, on a real socket and its own data folder: for files that need many, each
// with other settings or another langgraph.json, and kill none. It costs a tenth of a process.
import { toRefusal } from "../../packages/holdpoint/src/cli/errors/refusal.ts";
import type { Host, Limits } from "../../packages/holdpoint/src/main/host.ts";
import { serve } from "../../packages/holdpoint/src/main/serve.ts";
import {
  databaseFor,
  parseLine,
  ROOT,
  temporaryFolder,
  TEST_GRAPHS,
  type ServerOptions,
  type TestServer,
} from "./server.ts";
import { createArrivals } from "./arrivals.ts";

export type ServerHere = Pick<
  TestServer,
  "url" | "dataDir" | "databaseUri" | "logs" | "whenLogged" | "output" | "stop"
>;

/** A failed start: the exit code of the process, and its output. */
export class NotStarted extends Error {
  readonly code: number;
  constructor(code: number, output: string) {
    super(output);
    this.name = "NotStarted";
    this.code = code;
  }
}

export interface ServerHereOptions extends Pick<ServerOptions, "config" | "dataDir" | "env"> {
  readonly limits?: Partial<Limits>;
}

/** @throws {NotStarted} */
export async function startServerHere(options: ServerHereOptions = {}): Promise<ServerHere> {
  const dataDir = options.env?.["HOLDPOINT_DATA_DIR"] ?? options.dataDir ?? temporaryFolder();
  const logs = createArrivals<Readonly<Record<string, unknown>>>();
  let output = "";
  const databaseUri = options.env?.["DATABASE_URI"] ?? (await databaseFor(dataDir));
  const host: Host = {
    env: {
      DATABASE_URI: databaseUri,
      PORT: "0",
      HOLDPOINT_DATA_DIR: dataDir,
      LOG_JSON: "true",
      LOG_LEVEL: "debug",
      ...options.env,
    },
    environment: {},
    processId: process.pid,
    nodeVersion: process.versions.node,
    platform: process.platform,
    isTerminal: { out: false, err: false },
    out: (text) => void (output += text),
    err(text) {
      output += text;
      for (const line of text.split("\n")) {
        const entry = parseLine(line);
        if (entry !== null) logs.add(entry);
      }
    },
    program: "holdpoint",
    limits: { schemaTimeoutMs: 0, ...options.limits }, // reading the types of the test graphs takes two seconds of CPU time
    product: { root: ROOT, version: "0.0.0", nodeRequired: process.versions.node, dependencies: {} },
  };
  try {
    const running = await serve(host, { config: options.config ?? TEST_GRAPHS });
    if (running === null) throw new Error("a server that prints its configuration only was not asked for");
    await running.announce();
    const url = String(logs.list.find(({ event }) => event === "listening")?.["url"]);
    const stop = async (): Promise<number> => {
      await running.stop();
      return running.exitCode();
    };
    return { url, dataDir, databaseUri, logs: logs.list, whenLogged: logs.when, output: () => output, stop };
  } catch (error) {
    const { message, exitCode } = toRefusal(error);
    throw new NotStarted(exitCode, `${output}holdpoint: ${message}\n`);
  }
}
