// A real server process for tests: started from main.ts on a free port, with its own data folder, stopped or killed at
// will.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { TEST_GRAPHS } from "./langgraph.ts";
import { type Arrivals, createArrivals } from "./arrivals.ts";

export const ROOT = join(import.meta.dirname, "..", "..");
export { TEST_GRAPHS };

export interface ServerOptions {
  /** Null: none, as for a command without the option. */
  readonly config?: string | null;
  readonly cwd?: string;
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments for Node, before main.ts: `--import` of a module that injects faults, for example. */
  readonly nodeArgs?: readonly string[];
  /** A wrapper command, e.g. strace with its arguments. */
  readonly under?: readonly string[];
}

export interface TestServer {
  readonly url: string;
  readonly dataDir: string;
  /** Address of PostgreSQL; empty when its data is in the folder. */
  readonly databaseUri: string;
  readonly process: ChildProcess;
  /** Everything that it has logged so far, one object a line. */
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** Waits for a log entry. */
  readonly whenLogged: Arrivals<Readonly<Record<string, unknown>>>["when"];
  /** Everything that it has written to either output. */
  readonly output: () => string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL; resolves at the end of the process. */
  kill(): Promise<void>;
  /** Resolves with `[code, signal]` when the process ends by itself. */
  readonly exited: Promise<readonly [number | null, NodeJS.Signals | null]>;
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "holdpoint-test-"));
}

/** The database that servers with this folder share on PostgreSQL; "" on SQLite. */
export async function databaseFor(dataDir: string): Promise<string> {
  if (postgres === null) return "";
  const known = databases.get(dataDir) ?? postgres.newDatabase();
  databases.set(dataDir, known);
  return known;
}
const databases = new Map<string, Promise<string>>();
const postgres = process.env["HOLDPOINT_TEST_STORAGE"] === "postgres" ? await import("./postgres/databases.ts") : null;

/** Variables that steer tests: the server would call them unknown. */
const OF_TESTS = /^HOLDPOINT_(TEST_(STORAGE|SEED|LANGGRAPH|PACKAGE_BUILT|DATABASE_URI)|FAULTS|ORACLE_SEED)$/;

/** Loading the modules then takes few collections: a fifth of the CPU time of a start. */
const YOUNG_GENERATION = "--min-semi-space-size=16";

/** @throws {Error} with everything it wrote, when it does not come up. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? temporaryFolder();
  const [command, ...wrapped] = [...(options.under ?? []), process.execPath];
  const databaseUri = options.env?.["DATABASE_URI"] ?? (await databaseFor(dataDir));
  const child = spawn(
    command,
    [
      ...wrapped,
      YOUNG_GENERATION,
      ...(options.nodeArgs ?? []),
      join(ROOT, "packages/holdpoint/src/main.ts"),
      "serve",
      ...(options.config === null ? [] : ["--config", options.config ?? TEST_GRAPHS]),
    ],
    {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: {
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_TESTS.test(name))),
        DATABASE_URI: databaseUri,
        DATABASE_URL: "",
        PORT: "0",
        HOLDPOINT_DATA_DIR: dataDir,
        LOG_JSON: "true",
        LOG_LEVEL: "debug",
        ...options.env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const logs = createArrivals<Readonly<Record<string, unknown>>>();
  let output = "";
  const exited = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) => {
    child.on("close", (code, signal) => resolve([code, signal])); // with all of its output
  });
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      output += `${line}\n`;
      const entry = parseLine(line);
      if (entry === null) return;
      logs.add(entry);
      if (entry["event"] === "listening") resolve(String(entry["url"]));
    });
    void exited.then(([code, signal]) =>
      reject(new Error(`the server ended (${code ?? signal}) before it listened:\n${output}`)),
    );
  });
  return {
    url,
    dataDir,
    databaseUri,
    process: child,
    logs: logs.list,
    whenLogged: logs.when,
    exited,
    output: () => output,
    async stop() {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** An entry of the log; null for a line that is none. */
export function parseLine(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: never;
  readonly text: string;
}

/** One call with a JSON body; the reply parsed when it is JSON. */
export async function call(
  server: { readonly url: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = text;
  }
  return { status: response.status, headers: response.headers, body: parsed as never, text };
}
