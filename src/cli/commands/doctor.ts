// Doctor: checks the requirements of a server and a collector on this machine, and prints remedies.
// Invariants:
//   doctor.1. Read-only: creates no folder, starts no run, sends no trace.
//   doctor.2. Every check prints a line; a check that throws counts as failed, and the others continue.
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Cli } from "../client/command-context.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, paint, withProgress, printJson } from "../output/print.ts";
import { counted, oneLine } from "../output/sanitize.ts";

export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** The remedy; null if the check passes. */
  readonly remedy: string | null;
}

/** The subject of the checks, as a start on this machine would use it. */
export interface Surroundings {
  readonly nodeVersion: string;
  /** The `engines` range of package.json: `>=24.12`. */
  readonly nodeRequired: string;
  /** @throws {ConfigError} */
  readonly agent: () => Promise<{ readonly port: number; readonly dataDir: string }>;
  /** @throws {ConfigError} */
  readonly collector: () => Promise<{
    readonly port: number;
    readonly tracesPort: number;
    readonly endpoint: string | null;
    /** Whether a variable names the port: without one, the listener on a usual port may be another project's. */
    readonly named: { readonly port: boolean; readonly tracesPort: boolean };
  }>;
  /** Null without the file. @throws {ConfigFileError} */
  readonly graphs: () => Promise<{
    readonly file: string;
    readonly ids: readonly string[];
    readonly remarks: readonly string[];
  } | null>;
}

export interface DoctorOptions extends PrintOptions {
  readonly url?: string;
  readonly apiKey?: string;
}

type Check = readonly [name: string, run: () => Promise<readonly Seen[]>];
type Seen = Omit<Finding, "check">;

const ok = (detail: string): Seen => ({ status: "ok", detail, remedy: null });
const warn = (detail: string, remedy: string): Seen => ({ status: "warn", detail, remedy });
const fail = (detail: string, remedy: string): Seen => ({ status: "fail", detail, remedy });

export async function doctor(cli: Cli, around: Surroundings, options: DoctorOptions): Promise<ExitCode> {
  const { terminal } = cli;
  const findings: Finding[] = [];
  for (const [check, run] of checksOf(cli, around, options)) {
    for (const seen of await withProgress(cli, `checking: ${check}`, attempt(run))) {
      findings.push({ check, ...seen });
      if (options.json !== true) terminal.out(`${lineOf(cli, { check, ...seen })}\n`);
    }
  }
  const failures = findings.filter(({ status }) => status === "fail").length;
  if (options.json === true) printJson(terminal, { ok: failures === 0, findings });
  else terminal.out(`\n${summaryOf(failures, findings.filter(({ status }) => status === "warn").length)}\n`);
  return failures > 0 ? EXIT.failed : EXIT.done;
}

function summaryOf(failures: number, warnings: number): string {
  if (failures > 0) return `${counted(failures, "check")} failed: follow the arrows, then run doctor again.`;
  return warnings === 0 ? "Everything is in order." : `No check failed; ${counted(warnings, "warning")}.`;
}

/** doctor.2. */
async function attempt(run: () => Promise<readonly Seen[]>): Promise<readonly Seen[]> {
  try {
    return await run();
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    return message.split("\n").map((line) => fail(line, "correct it and run doctor again"));
  }
}

function lineOf({ terminal }: Cli, { check, status, detail, remedy }: Finding): string {
  const style = { ok: "green", warn: "yellow", fail: "red" } as const;
  const line = `${paint(terminal, style[status], status.padEnd(4))}  ${check.padEnd(14)} ${oneLine(detail)}`;
  return remedy === null ? line : `${line}\n      ${" ".repeat(14)} ${paint(terminal, "dim", `→ ${oneLine(remedy)}`)}`;
}

function checksOf(cli: Cli, around: Surroundings, options: DoctorOptions): readonly Check[] {
  return [
    ["node", async () => [nodeCheck(around)]],
    [
      "settings",
      async () => (
        await Promise.all([around.agent(), around.collector(), cli.config()]),
        [ok("all environment variables are valid")]
      ),
    ],
    ["data folder", async () => [await folderCheck((await around.agent()).dataDir)]],
    ["disk space", async () => [await spaceCheck((await around.agent()).dataDir)]],
    ["langgraph.json", () => graphsCheck(cli, around)],
    ["server", () => serverCheck(cli, around, options)],
    ["collector", () => collectorCheck(cli, around)],
    ["traces", () => backendCheck(cli, around)],
  ];
}

function nodeCheck({ nodeVersion, nodeRequired }: Surroundings): Seen {
  const numbers = (text: string): readonly number[] => (text.match(/\d+/g) ?? []).map(Number);
  const [major = 0, minor = 0] = numbers(nodeVersion);
  const [wantedMajor = 0, wantedMinor = 0] = numbers(nodeRequired);
  const fits = major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
  return fits ? ok(nodeVersion) : fail(`${nodeVersion} is too old`, `install Node ${nodeRequired}`);
}

async function folderCheck(dataDir: string): Promise<Seen> {
  const folder = resolve(dataDir);
  const there = await nearest(folder);
  const remedy = "make the folder writable for this user, or set HOLDPOINT_DATA_DIR";
  if (!(await stat(there)).isDirectory()) return fail(`${there} is not a folder`, remedy);
  const can = await access(there, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!can) return fail(`${there} is not writable`, remedy);
  return ok(there === folder ? folder : `${folder} (not created yet)`);
}

/** The folder, or its nearest existing ancestor (doctor.1). */
async function nearest(folder: string): Promise<string> {
  try {
    await access(folder, constants.F_OK);
    return folder;
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : nearest(above);
  }
}

const MIB = 1024 * 1024;
const SPACE_FAIL_MIB = 100;
const SPACE_WARN_MIB = 1024;

async function spaceCheck(dataDir: string): Promise<Seen> {
  const { bavail, bsize } = await statfs(await nearest(resolve(dataDir)));
  const free = Math.floor((bavail * bsize) / MIB);
  const text = `${free} MiB free`;
  if (free < SPACE_FAIL_MIB) return fail(text, "free disk space: on a full disk, writes fail");
  return free < SPACE_WARN_MIB ? warn(text, "free disk space before it runs out") : ok(text);
}

async function graphsCheck({ program }: Cli, { graphs }: Surroundings): Promise<readonly Seen[]> {
  const found = await graphs();
  if (found === null)
    return [
      warn(
        "none in this folder: a server here serves no graphs of yours",
        `create a project with ${program} new my-agent, or try the samples with ${program} dev`,
      ),
    ];
  const { ids, remarks } = found;
  const remarked = remarks.map((remark) => warn(remark, "remove it, unless another program reads the file"));
  return [ok(`graphs: ${ids.join(", ")}; not loaded here: ${program} validate loads and checks them`), ...remarked];
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const TIMEOUT_MS = 5000;

/** Null if the port is closed. @throws {Error} if the listener does not respond. */
async function ask(address: string, apiKey: string | null = null): Promise<Reply | null> {
  try {
    const headers = apiKey === null ? {} : { "x-api-key": apiKey };
    const response = await fetch(address, { headers, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    const body: unknown = text.startsWith("{") ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    const { name, cause } = error instanceof Error ? error : new Error(String(error));
    if ((cause as { readonly code?: string } | undefined)?.code === "ECONNREFUSED") return null;
    throw new Error(`${address} ${name === "TimeoutError" ? "does not respond" : "is unreachable"}`, {
      cause: error,
    });
  }
}

async function serverCheck(cli: Cli, { agent }: Surroundings, options: DoctorOptions): Promise<readonly Seen[]> {
  const config = await cli.config();
  const named = options.url ?? config.url ?? (await cli.localServer())?.url;
  const start = `start one: ${cli.program} dev, or ${cli.program} serve`;
  if (named === undefined) {
    const { dataDir } = await agent();
    return [warn(`no server runs on ${dataDir}, and HOLDPOINT_URL names none`, start)]; // api-client.3
  }
  const url = named.replace(/\/+$/, "");
  const info = await ask(`${url}/info`, options.apiKey ?? config.apiKey);
  if (info === null) return [fail(`no server responds at ${url}`, start)];
  const { version } = (info.body ?? {}) as { readonly version?: string };
  if (info.status === 401)
    return [fail(`${url} requires an API key`, "set HOLDPOINT_API_KEY, or use --api-key"), clockCheck(cli, info)];
  if (info.status !== 200 || version === undefined)
    return [fail(`${url} is not a Holdpoint server (it returned ${info.status})`, "check --url, or set another PORT")];
  const ready = await ask(`${url}/ready`);
  const running = `Holdpoint ${version} at ${url}`;
  return [
    ready?.status === 200
      ? ok(running)
      : fail(`${running} accepts no runs`, "check its log; GET /ready has the reason"),
    clockCheck(cli, info),
  ];
}

const SKEW_MS_MAX = 5000;

/** The server's clock decides deadlines and claims; this clock shows ages. */
function clockCheck({ clock }: Cli, { headers }: Reply): Seen {
  const there = Date.parse(headers.get("date") ?? "");
  const skew = Math.round(Math.abs(clock.now() - there) / 1000);
  if (Number.isNaN(there)) return warn("the server sends no Date header", "compare the clocks by hand");
  if (skew * 1000 > SKEW_MS_MAX)
    return warn(`server and local clock differ by ${skew} s`, "synchronize both with a time server");
  return ok("server and local clock agree");
}

async function collectorCheck(cli: Cli, { collector }: Surroundings): Promise<readonly Seen[]> {
  const { port, named } = await collector();
  const url = named.port ? `http://127.0.0.1:${port}` : (await cli.localServer())?.collectorUrl;
  if (url === undefined || url === null)
    return [
      warn(
        "no collector runs in this project",
        `not needed for runs. ${cli.program} dev contains one; for one of ${cli.program} collector, set HTTP_PORT to its port`,
      ),
    ];
  const ready = await ask(`${url}/ready`);
  if (ready === null)
    return [warn(`no collector responds at ${url}`, `to collect traces, start one: ${cli.program} collector`)];
  if (ready.status === 200) return [ok(`accepts traces at ${url}`)];
  return [fail(`the listener at ${url} is not ready (it returned ${ready.status})`, "check its log, or set HTTP_PORT")];
}

async function backendCheck(cli: Cli, { collector }: Surroundings): Promise<readonly Seen[]> {
  const { endpoint, tracesPort, named } = await collector();
  const local = named.tracesPort ? `http://127.0.0.1:${tracesPort}` : (await cli.localServer())?.tracesUrl;
  const what = endpoint === null ? "the local trace store" : "the tracing backend";
  const url = (endpoint ?? local)?.replace(/\/+$/, "");
  const starters = `not needed for runs. It runs with ${cli.program} dev and ${cli.program} collector`;
  if (url === undefined) return [warn("no trace store runs in this project", starters)];
  const info = await ask(`${url}/info`);
  if (info === null) {
    const seen = `${what} does not respond at ${url}`;
    if (endpoint === null) return [warn(seen, starters)];
    return [fail(seen, "check TRACING_ENDPOINT")];
  }
  const upload = endpoint === null ? "" : `; key and upload are not tested: ${cli.program} collector check tests them`;
  if (info.status < 500) return [ok(`${what} responds at ${url}${upload}`)];
  return [fail(`${what} at ${url} returned ${info.status}`, "check its log")];
}
