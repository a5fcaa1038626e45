// Server checks of doctor: the agent server, the collector and the tracing backend, each asked over HTTP.
import { randomUUID } from "node:crypto";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Cli } from "../../client/command-context.ts";
import { fail, type NamedServer, ok, type Seen, type Surroundings, warn } from "./finding.ts";

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const TIMEOUT_MS = 5000;

/** Null if the port is closed. @throws {Error} if the listener does not respond. */
async function ask(address: string, call: RequestInit = {}): Promise<Reply | null> {
  try {
    const response = await fetch(address, { ...call, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
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

export async function serverCheck(cli: Cli, { agent }: Surroundings, options: NamedServer): Promise<readonly Seen[]> {
  const config = await cli.config();
  const named = options.url ?? config.url ?? (await cli.localServer())?.url;
  const start = `start one: ${cli.program} dev, or ${cli.program} serve`;
  if (named === undefined) {
    const { dataDir } = await agent();
    return [warn(`no server runs on ${dataDir}, and HOLDPOINT_URL names none`, start)];
  }
  const url = named.replace(/\/+$/, "");
  const apiKey = options.apiKey ?? config.apiKey;
  const info = await ask(`${url}/info`, apiKey === null ? {} : { headers: { "x-api-key": apiKey } });
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

export async function collectorCheck(cli: Cli, { collector }: Surroundings): Promise<readonly Seen[]> {
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

export async function backendCheck(cli: Cli, { collector }: Surroundings): Promise<readonly Seen[]> {
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
  if (info.status >= 500) return [fail(`${what} at ${url} returned ${info.status}`, "check its log")];
  if (endpoint === null) return [await storeCheck(cli, url)];
  const upload = `key and upload are not tested: ${cli.program} collector check tests them`;
  return [ok(`${what} responds at ${url}; ${upload}`)];
}

/** Writes a trace, reads it back, and deletes it. */
async function storeCheck({ clock }: Cli, url: string): Promise<Seen> {
  const id = randomUUID();
  const name = "holdpoint doctor";
  const time = isoTime(clock.now());
  const order = `${time.slice(0, 23).replaceAll(/[-:.]/g, "")}000Z${id}`;
  const run = { id, trace_id: id, dotted_order: order, name, session_name: name, run_type: "chain", start_time: time };
  const upload = { method: "POST", body: JSON.stringify({ ...run, end_time: time, inputs: {}, outputs: {} }) };
  const written = await ask(`${url}/runs`, { ...upload, headers: { "content-type": "application/json" } });
  const kept = await ask(`${url}/traces/${id}`);
  const remedy = "check its log, the disk, and the data folder";
  if (written?.status !== 202) return fail(`the trace store at ${url} refused a trace (${written?.status})`, remedy);
  if (kept?.status !== 200) return fail(`the trace store at ${url} does not keep the trace that it accepted`, remedy);
  await ask(`${url}/traces/${id}`, { method: "DELETE" });
  return ok(`the local trace store at ${url} keeps a trace: one was written, read back and deleted`);
}
