// Agent server: assembles the server behind one port, and starts and stops its parts in order.
// Invariants:
//   - The port opens after the worker has started and the graphs are registered.
//   - stop() first stops claiming, then delivers results to waiting callers while runs end, then closes the port.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { type Service, group } from "@holdpoint/base/lifecycle.ts";
import { type EmbeddedListener, createEmbeddedListener } from "@holdpoint/base/http/server/embedded-listener.ts";
import { type Loopback, createLoopback } from "@holdpoint/base/http/server/loopback-client.ts";
import { type HttpService, createHttpService } from "@holdpoint/base/http/server/server.ts";
import { registerGraphs } from "../threads/assistants/assistants.ts";
import { DEADLINE_POLL_MS, createDeadlines } from "../inbox/deadline-scheduler.ts";
import { assistantDefaults } from "../model/assistant-defaults.ts";
import { createListener, createUpgradeHandler } from "./http-listener.ts";
import { createAgentMetrics } from "./metrics.ts";
import { inboxChoices } from "@holdpoint/api/inbox-filter.ts";
import { countInbox } from "../inbox/inbox-counts.ts";
import { searchedBy } from "../routes/inbox/inbox-query.ts";
import { syncWithPeers } from "./peer-sync.ts";
import { createReseal } from "./reseal.ts";
import { createRetention } from "./retention.ts";
import { createServerContext, type ServerContext, countSlots } from "./server-context.ts";
import type { AgentServerPorts } from "./server-ports.ts";
import { AGENT_SETTINGS, type AgentConfig } from "./settings.ts";
import { type Config, describeConfig, type SettingsTable } from "@holdpoint/base/config/config.ts";
import type { AgentContext } from "../context/context.ts";
import { buildAct, SERVER } from "../model/audit/build-act.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Storage } from "../ports/ports.ts";

export interface AgentServer extends Service {
  /** Throws if embedded. */
  readonly address: HttpService["address"];
  /** Listener for the requests of a host program; null with a port. */
  readonly listener: EmbeddedListener["listener"] | null;
  /** Requests to the server from inside its process. */
  readonly loopback: Loopback;
  /** Creates missing built-in assistants after a reload of the graphs. */
  readonly registerGraphs: () => Promise<void>;
}

const SWEEP_EVERY_MS = 60_000;
/** Additional time for replies in progress at the end of the grace period: their callers have just got results. */
const DRAIN_SPARE_MS = 3000;
/** Time to requeue runs aborted at the end of the grace period. */
const SETTLE_MS = 5000;

export function createAgentServer(config: AgentConfig, ports: AgentServerPorts): AgentServer {
  const { storage, surface, clock, embedded } = ports;
  const graceMs = config.shutdownGraceSecs * 1000;
  let graceEndsAt = Infinity;
  let address = { host: config.host, port: config.port }; // until the port is open
  const counted = createAgentMetrics(ports.metrics, storage, {
    slots: countSlots(config),
    running: () => context.worker.running(),
    boundUnits: storage.boundUnits,
    overdue: () => countInbox(context.agent, searchedBy(inboxChoices.parse({ deadline: "overdue" }), null, 0)),
  });
  const own = {
    counted,
    loopback: (...request: Parameters<Loopback>) => loopback(...request),
    publicUrl: () => config.publicUrl ?? `${embedded ? "http://localhost" : formatUrl(address)}${surface.mountPrefix}`,
  };
  const context = createServerContext(config, ports, own);
  const listener = createListener(config, ports, context, own);
  const loopback = createLoopback(listener);
  const drained = {
    name: "http",
    listener,
    stopMs: graceMs + DRAIN_SPARE_MS + SETTLE_MS,
    drainMs: () => Math.max(0, graceEndsAt - clock.monotonic()) + DRAIN_SPARE_MS,
  };
  const http = createPort(config, ports, context, drained);
  const embeddedListener = embedded ? createEmbeddedListener({ ...drained, log: ports.log }) : null;
  const opened = part("address", async () => {
    if (!embedded) address = http.address();
  });
  const register = (): Promise<void> => registerGraphs(context.agent, assistantDefaults(config.graphConfig));
  const parts = group(
    "agent server",
    listParts(config, ports, context, {
      http: embeddedListener ?? http,
      opened,
      graphs: part("graphs", async () => {
        await register();
        await noteStart(context.agent, config.role, {
          settings: describeSettings(AGENT_SETTINGS, config),
          versions: { holdpoint: ports.versions.holdpoint, langgraph: ports.versions.library },
          policies: ports.policies.map(({ policyId }) => policyId), // an id changes with its rule
        });
      }),
    }),
  );
  return {
    name: parts.name,
    start: () => parts.start(),
    stop() {
      graceEndsAt = clock.monotonic() + graceMs;
      return parts.stop();
    },
    stopMs: null,
    address: () => http.address(),
    listener: embeddedListener?.listener ?? null,
    loopback,
    registerGraphs: register,
  };
}

/** A worker process accepts no WebSockets, nor does a server without the routes of threads. */
function createPort(
  config: AgentConfig,
  ports: AgentServerPorts,
  { agent }: ServerContext,
  {
    drainMs,
    ...service
  }: Pick<EmbeddedListener, "name" | "listener"> & { readonly stopMs: number; readonly drainMs: () => number },
): HttpService {
  const isUpgraded = config.role !== "worker" && !ports.surface.disabled.includes("threads");
  return createHttpService({
    ...service,
    host: config.host,
    port: config.port,
    limits: { drainMs },
    ...(isUpgraded ? { onUpgrade: createUpgradeHandler(config, ports, agent) } : {}),
  });
}

/** The parts in the order of their start. They stop in reverse. */
function listParts(
  config: AgentConfig,
  { engine, store, threadTtl, signIn, refusals, takeCommandActs, storage, clock, log }: AgentServerPorts,
  { agent, worker, events, compaction, inbox, webhooks, notify, forward, crons, search }: ServerContext,
  { http, opened, graphs }: { readonly http: Service; readonly opened: Service; readonly graphs: Service },
): readonly Service[] {
  // The worker starts before the port opens, and stops before the port closes. If the
  // port does not open, the part that started the worker stops it.
  let workerStops: Promise<void> | null = null;
  const stopWorker = (): Promise<void> => (workerStops ??= worker.stop());
  const stopMs = config.shutdownGraceSecs * 1000 + SETTLE_MS;
  return [
    graphs,
    createSeqFloor(agent),
    engine.lease,
    syncWithPeers(agent, engine.peers),
    { name: "claiming", start: () => worker.start(), stop: stopWorker, stopMs },
    webhooks,
    ...(notify?.watch ? [notify.watch] : []),
    ...(forward === null ? [] : [forward.watch]),
    ...(refusals === null ? [] : [refusals]),
    http,
    opened,
    events,
    { name: "worker", start: () => Promise.resolve(), stop: stopWorker, stopMs },
    // Inbox subscriptions never end by themselves, so they end before the port waits for its replies.
    { name: "inbox", start: () => Promise.resolve(), stop: async () => inbox.close() },
    compaction,
    crons,
    search,
    store,
    createDeadlines(agent, engine.peers.alone ? undefined : DEADLINE_POLL_MS),
    ...(config.role === "api" ? [] : [createReseal({ storage, clock, log })]),
    createRetention(agent, {
      runsMs: config.keepRunsMs,
      checkpointsMs: config.keepCheckpointsMs,
      auditMs: config.keepAuditMs,
      expirePaused: threadTtl.expirePaused,
      everyMs: threadTtl.sweepEveryMs ?? SWEEP_EVERY_MS,
      takeCommandActs,
      sweepSessions: signIn === null ? null : () => signIn.sessions.sweep(),
    }),
  ];
}

function part(name: string, start: () => Promise<void>): Service {
  return { name, start, stop: () => Promise.resolve() };
}

function formatUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const VALUE_UNITS_MAX = 500;

/** A start in the audit trail. */
async function noteStart(
  { storage, clock }: Pick<AgentContext, "storage" | "clock">,
  role: string,
  fields: JsonObject,
): Promise<void> {
  const act = { action: "server_started", at: clock.now(), subject: role, fields } as const;
  await storage.transaction((tx) => tx.audit([buildAct(SERVER, act)]));
}

/** Those that differ from their default. describeConfig masks secrets. */
function describeSettings<Table extends SettingsTable>(table: Table, config: Config<Table>): JsonObject {
  const lines = describeConfig(table, config, {}).filter(({ origin }) => origin !== "default");
  return Object.fromEntries(lines.map(({ name, value }) => [name, value.slice(0, VALUE_UNITS_MAX)]));
}

// Seq floor: raises the numbers of event rows at the start of a process, by the clock.
// Invariant: a database that was restored from a backup, or filled by an import, issues no number again that a client
// may have seen before: the numbers follow the clock as long as a database stores fewer rows than ROWS_PER_SECOND on
// average. A position of a client stays below all later events.

/** 2026-01-01. With 125 rows a second, `seq` of the protocol (65,536 per row) is an exact number until 2060. */
const BEGIN_MS = Date.UTC(2026, 0, 1);
const ROWS_PER_SECOND = 125;

function createSeqFloor({ storage, clock }: { readonly storage: Storage; readonly clock: Clock }): Service {
  return {
    name: "event numbers",
    async start() {
      const least = Math.floor(((clock.now() - BEGIN_MS) / 1000) * ROWS_PER_SECOND);
      if (least > 0) await storage.transaction((tx) => tx.raiseEventSeq(least));
    },
    stop: () => Promise.resolve(),
  };
}
