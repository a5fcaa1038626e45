// Server: puts the agent room together behind one port: worker, operations, routes, sweeps.
// Invariants:
//   agent-server.1. Requests are taken only when the worker has started and the graphs are registered.
//   agent-server.2. On stop, nothing new is claimed first; waiting callers get their results while runs end; then the port closes.
import type { Clock } from "../../base/clock.ts";
import type { NewId } from "../../base/ids.ts";
import { type Service, group } from "../../base/lifecycle.ts";
import type { Log } from "../../base/log/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import { guardedPost, resolveHost } from "../../http/outbound/guarded-post.ts";
import { createCors } from "../../http/server/cors.ts";
import { type HttpRoute, createApp } from "../../http/server/app.ts";
import { type Door, createDoor } from "../../http/server/door.ts";
import { type Loopback, createLoopback, postHere } from "../../http/server/loopback-client.ts";
import { isLoopbackAddress } from "../../http/server/loopback-host.ts";
import { type HttpService, createHttpService } from "../../http/server/server.ts";
import type { AgentContext } from "../context.ts";
import { registerGraphs } from "../assistants/assistants.ts";
import { type LocalServices, besideRoutes } from "./console-api.ts";
import { createConfigurableHeaders } from "../auth/configurable-headers.ts";
import { createCronScheduler } from "../crons/cron-scheduler.ts";
import { LOOK_OFTEN_MS, createDeadlines } from "../inbox/deadline-scheduler.ts";
import { type EventLimits, createEventHub } from "../events/event-hub.ts";
import { syncWithPeers } from "./peer-sync.ts";
import { assistantDefaults } from "../model/assistant-defaults.ts";
import { createInboxFeed } from "../events/inbox-feed.ts";
import { createAgentMetrics } from "./metrics.ts";
import type { Run } from "../model/model.ts";
import { createNotifier } from "../webhooks/interrupt-notifier.ts";
import type { Access, Engine, Graphs, Storage, Store, WebhookPolicy } from "../ports/ports.ts";
import { protocolRoutes } from "../protocol/routes.ts";
import { createUpgrade } from "../protocol/socket/socket-upgrade.ts";
import { createQueueLimit } from "../runs/accept/queue-limit.ts";
import { createRetention } from "./retention.ts";
import { assistantRoutes } from "../routes/assistants.ts";
import { cronRoutes } from "../routes/crons.ts";
import { inboxRoutes } from "../routes/inbox.ts";
import { type Versions, metaRoutes } from "../routes/meta.ts";
import { runRoutes } from "../routes/runs.ts";
import { statelessRoutes } from "../routes/stateless.ts";
import { storeRoutes } from "../routes/store.ts";
import { streamRoutes } from "../routes/streams.ts";
import { threadRoutes } from "../routes/threads.ts";
import type { AgentConfig } from "./settings.ts";
import { type Surface, corsRules, customApp, served } from "./api-surface.ts";
import type { Ttl } from "../threads/new-thread.ts";
import { createWebhooks } from "../webhooks/webhook-sender.ts";
import { createWorker } from "../runs/execute/worker.ts";

export interface AgentServerPorts {
  readonly storage: Storage & { readonly boundUnits: () => number };
  readonly store: Store & Service;
  readonly graphs: Graphs;
  readonly engine: Engine;
  /** Null when nobody has to authenticate. */
  readonly access: Access | null;
  readonly surface: Surface;
  readonly webhooks: WebhookPolicy;
  /** Routes that are no part of the contract: pages. */
  readonly pages: readonly HttpRoute[];
  /** What the console may ask for besides the contract; null without a console. */
  readonly beside: LocalServices | null;
  readonly threadTtl: ThreadTtl;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly versions: Versions;
  /** A host program passes the requests: no port opens, and the checks of the Host header are the host's. */
  readonly embedded: boolean;
}

/** What the deployment says of the life of threads. */
export interface ThreadTtl {
  /** Of threads that are made without one of their own. */
  readonly fallback: Ttl;
  readonly sweepEveryMs: number | null;
}

export interface AgentServer extends Service {
  /** Throws when embedded. */
  readonly address: HttpService["address"];
  /** For the requests that a host program passes; null with a port. */
  readonly listener: Door["listener"] | null;
  /** Requests to the server from inside its process. */
  readonly loopback: Loopback;
  /** Makes what graphs need that were not there at the start. */
  readonly registerGraphs: () => Promise<void>;
}

const SWEEP_EVERY_MS = 60_000;
/** Replies that are in progress when the grace period ends get so much longer: their callers have just been answered. */
const DRAIN_SPARE_MS = 3000;
/** Runs that were aborted at the end of the grace period are stored as handed back in this time. */
const SETTLE_MS = 5000;

export function createAgentServer(config: AgentConfig, ports: AgentServerPorts): AgentServer {
  const { storage, store, graphs, engine, access, surface, clock, newId, log, metrics, versions } = ports;
  const { embedded } = ports;
  const graceMs = config.shutdownGraceSecs * 1000;
  const defaults = assistantDefaults(config.graphConfig);
  const slots = config.role === "api" ? 0 : config.jobsPerWorker;
  let running = (): number => 0;
  const counted = createAgentMetrics(metrics, storage, { slots, running: () => running() }, storage.boundUnits);
  const events = createEventHub({ wakes: engine.wakes, clock, limits: eventLimits(config) });
  const inbox = createInboxFeed(newId, engine.wakes, () => engine.peers.tell({ kind: "inbox" }));
  let loopback: Loopback = () => Promise.reject(new Error("the server has not been put together"));
  const webhooks = createWebhooks(
    {
      policy: ports.webhooks,
      secret: config.webhookSecret,
      attemptsMax: config.webhookAttemptsMax,
      retryMs: config.webhookRetryMs,
      userAgent: `holdpoint/${versions.holdpoint}`,
    },
    {
      storage,
      clock,
      log,
      random: Math.random,
      post: (post, policy, limits, signal) =>
        post.url.startsWith("/")
          ? postHere(loopback, `${surface.mountPrefix}${post.url}`, post, { ...limits, signal })
          : guardedPost(post, policy, limits, { resolve: resolveHost, clock }, signal),
      isOwnRoute: (path) => surface.app?.claim("POST", path) === "first",
      onOutcome: counted.onWebhook,
    },
  );
  const notify = config.notifyUrl === null ? null : { url: config.notifyUrl, format: config.notifyFormat };
  let address = { host: config.host, port: config.port }; // until the port is open
  const ownUrl = (): string => (embedded ? "http://localhost" : urlOf(address));
  const publicUrl = (): string => config.publicUrl ?? `${ownUrl()}${surface.mountPrefix}`;
  const notifier = createNotifier(notify, publicUrl);
  const onEnd = (run: Run, durationMs: number): void => {
    counted.onRunEnd(run, durationMs);
    if (notifier.takeStored() || run.request.webhook !== undefined) webhooks.wake();
  };
  const worker = createWorker(
    {
      slots,
      timeoutMs: config.jobTimeoutSecs * 1000,
      graceMs,
      crashesMax: config.jobAttemptsMax,
    },
    { storage, graphs, events, engine, clock, log, notifier, onRunEnd: onEnd, onWaiting: inbox.added },
  );
  running = worker.running;
  const limits = {
    assistantsMax: config.assistantsMax,
    cronsMax: config.cronsMax,
    threadTtl: ports.threadTtl.fallback,
  };
  const headers = createConfigurableHeaders(surface.configurableHeaders);
  const agent: AgentContext = {
    storage,
    store,
    graphs,
    access,
    headers,
    worker,
    events,
    inbox,
    webhooks,
    clock,
    newId,
    log,
    limits,
    queueLimit: createQueueLimit(config.pendingRunsMax, clock),
    wakeCrons: () => crons.wake(),
  };
  const crons = createCronScheduler(agent);
  const open = [
    ...threadRoutes(agent),
    ...runRoutes(agent, config.keepAliveMs),
    ...statelessRoutes(agent, config.keepAliveMs),
    ...inboxRoutes(agent, config.streamHeartbeatMs),
    ...assistantRoutes(agent),
    ...storeRoutes(agent),
    ...cronRoutes(agent),
    ...streamRoutes(agent, config.streamHeartbeatMs),
    ...protocolRoutes(agent, config.streamHeartbeatMs),
  ];
  const routes = config.role === "worker" ? [] : served(open, surface);
  const operations = routes.map(({ operation }) => operation);
  const all = [...routes, ...served(metaRoutes(agent, metrics, versions, operations, surface.mountPrefix), surface)];
  let graceEndsAt = Infinity;
  const listener = createApp({
    routes: [
      ...all.map((one) => one.bind(agent)),
      ...(ports.beside === null ? [] : besideRoutes(ports.beside, access)),
      ...ports.pages,
    ],
    custom: customApp(surface, access),
    prefix: surface.mountPrefix,
    cors: corsRules(surface),
    bodyBytesMax: config.bodyBytesMax,
    hosts: { loopback: !embedded && isLoopbackAddress(config.host), allowed: config.allowedHosts },
    log,
    onReply: counted.onReply,
    monotonic: clock.monotonic,
  });
  loopback = createLoopback(listener);
  const onUpgrade = createUpgrade(agent, {
    prefix: surface.mountPrefix,
    hosts: { loopback: isLoopbackAddress(config.host), allowed: config.allowedHosts },
    cors: createCors(corsRules(surface)),
  });
  const drainMs = (): number => Math.max(0, graceEndsAt - clock.monotonic()) + DRAIN_SPARE_MS;
  const drained = { name: "http", listener, stopMs: graceMs + DRAIN_SPARE_MS + SETTLE_MS };
  const http = createHttpService({
    ...drained,
    host: config.host,
    port: config.port,
    limits: { drainMs },
    ...(config.role === "worker" ? {} : { onUpgrade }),
  });
  const door = embedded ? createDoor({ ...drained, log, drainMs }) : null;
  const register: Service = {
    name: "graphs",
    start: () => registerGraphs(agent, defaults),
    stop: () => Promise.resolve(),
  };
  // The worker starts before the port opens, and is told to stop before the port closes (agent-server.1, agent-server.2).
  // Where the port does not open, it is told by the part that started it.
  let workerStops: Promise<void> | null = null;
  const stopWorker = (): Promise<void> => (workerStops ??= worker.stop());
  const stopMs = graceMs + SETTLE_MS;
  const claims: Service = { name: "worker", start: () => Promise.resolve(), stop: stopWorker, stopMs };
  const claiming: Service = { name: "claiming", start: () => worker.start(), stop: stopWorker, stopMs };
  const opened: Service = {
    name: "address",
    async start() {
      if (!embedded) address = http.address();
    },
    stop: () => Promise.resolve(),
  };
  // Readings of the inbox never end by themselves, so they are ended before the port waits for its replies.
  const watching: Service = { name: "inbox", start: () => Promise.resolve(), stop: async () => inbox.close() };
  const parts = group("agent server", [
    register,
    engine.lease,
    syncWithPeers(agent, engine.peers),
    claiming,
    webhooks,
    door ?? http,
    opened,
    events,
    claims,
    watching,
    crons,
    store,
    createDeadlines(agent, engine.peers.alone ? undefined : LOOK_OFTEN_MS),
    createRetention(agent, {
      runsMs: config.keepRunsMs,
      checkpointsMs: config.keepCheckpointsMs,
      auditMs: config.keepAuditMs,
      expirePaused: config.expirePaused,
      everyMs: ports.threadTtl.sweepEveryMs ?? SWEEP_EVERY_MS,
    }),
  ]);
  return {
    name: parts.name,
    start: () => parts.start(),
    stop() {
      graceEndsAt = clock.monotonic() + graceMs;
      return parts.stop();
    },
    stopMs: null,
    address: () => http.address(),
    listener: door?.listener ?? null,
    loopback,
    registerGraphs: () => registerGraphs(agent, defaults),
  };
}

function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function eventLimits(config: AgentConfig): EventLimits {
  return {
    eventsMax: config.streamEventsMax,
    bytesMax: config.streamBytesMax,
    keptMs: config.streamKeptSecs * 1000,
    resumableKeptMs: config.resumableStreamKeptSecs * 1000,
    protocolKeptMs: config.protocolStreamKeptSecs * 1000,
  };
}
