// Server context: creates the services behind the operations (events, inbox feed, webhooks, worker, crons), and the
// agent context over them.
import { guardedPost, resolveHost } from "@holdpoint/base/http/outbound/guarded-post.ts";
import { type Loopback, postHere } from "@holdpoint/base/http/server/loopback-client.ts";
import { createTenants, type Tenants } from "../auth/tenants.ts";
import { createConfigurableHeaders } from "../auth/configurable-headers.ts";
import type { AgentContext } from "../context/context.ts";
import { type CronScheduler, createCronScheduler } from "../runs/crons/cron-scheduler.ts";
import { type Compaction, createCompaction } from "../events/compaction.ts";
import { type EventHub, type EventLimits, createEventHub } from "../events/event-hub.ts";
import { type InboxFeed, createInboxFeed } from "../events/inbox-feed.ts";
import { type AuditForward, createAuditForward } from "../inbox/audit/forward-audit.ts";
import { createQueueLimit } from "../runs/accept/queue-limit.ts";
import { answerByPolicy } from "../policies/answer-by-policy.ts";
import { createWorker } from "../runs/execute/worker.ts";
import { createSearchIndexer, type SearchIndexer } from "../inbox/search/search-indexer.ts";
import type { Worker } from "../context/services.ts";
import { createNotifier } from "../webhooks/interrupt-notifier.ts";
import { type Webhooks, createWebhooks } from "../webhooks/webhook-sender.ts";
import { createAuditSender } from "./audit-sender.ts";
import type { AgentMetrics } from "./metrics.ts";
import type { Notify } from "./notify-service.ts";
import type { AgentServerPorts } from "./server-ports.ts";
import { createTraceEraser } from "./trace-eraser.ts";
import type { AgentConfig } from "./settings.ts";

export interface ServerContext {
  readonly agent: AgentContext;
  readonly events: EventHub;
  readonly compaction: Compaction;
  readonly inbox: InboxFeed;
  readonly webhooks: Webhooks;
  /** Null without notification rules. */
  readonly notify: Notify | null;
  /** Null without a destination. */
  readonly forward: AuditForward | null;
  readonly worker: Worker;
  readonly crons: CronScheduler;
  readonly search: SearchIndexer;
}

/** Functions of the server that exist only after the context. They are called after the start. */
export interface ServerLinks {
  readonly loopback: Loopback;
  /** Address of the server for links to the console. */
  readonly publicUrl: () => string;
  readonly counted: AgentMetrics;
}

/** The index has plain words, so encryption turns it off by default. */
function isSearched({ search, encryptionKeys }: AgentConfig): boolean {
  return search ?? encryptionKeys === null;
}

export function countSlots(config: AgentConfig): number {
  return config.role === "api" ? 0 : config.jobsPerWorker;
}

export function createServerContext(config: AgentConfig, ports: AgentServerPorts, links: ServerLinks): ServerContext {
  const { storage, store, graphs, engine, access, clock, newId, log } = ports;
  const events = createEventHub({ wakes: engine.wakes, clock, limits: eventLimits(config) });
  const notify = createServerNotify(ports, links, () => webhooks.wake());
  const inbox = createInboxFeed(newId, engine.wakes, () => {
    engine.peers.notify({ kind: "inbox" });
    notify?.watch?.changed();
  });
  inbox.onAnswered(links.counted.onAnswer);
  if (notify?.watch) inbox.onAdded(notify.watch.opened);
  const forward = createForward(config, ports, () => webhooks.wake());
  const webhooks = createServerWebhooks(config, ports, links, { notify, forward });
  const compaction = createCompaction({ storage, clock, log, afterMs: config.protocolCompactSecs * 1000 });
  const target = config.notifyUrl === null ? null : { url: config.notifyUrl, format: chooseFormat(config.notifyUrl) };
  const notifier = createNotifier(target, links.publicUrl, ports.notify !== null, notify?.addresses ?? null);
  const services = { events, compaction, inbox, webhooks, notifier, ...links };
  const worker = createServerWorker(config, ports, { ...services, agent: () => agent });
  const agent: AgentContext = {
    storage,
    store,
    traces: ports.traces === null ? null : createTraceEraser(ports.traces),
    graphs,
    access,
    isContact: notify?.stillNames ?? (() => ports.signIn !== null),
    headers: createConfigurableHeaders(ports.surface.configurableHeaders),
    worker,
    events,
    inbox,
    webhooks,
    notifier,
    clock,
    newId,
    log,
    configPolicies: ports.policies,
    limits: {
      assistantsMax: config.assistantsMax,
      cronsMax: config.cronsMax,
      memberBytesMax: config.memberBytesMax,
      answerBytesMax: config.answerBytesMax,
      threadTtl: ports.threadTtl.fallback,
    },
    queueLimit: createQueueLimit(config.pendingRunsMax, clock),
    ...createServerTenants(ports, links),
    search: { catchUp: () => search.catchUp() },
    publicUrl: links.publicUrl,
    addresses: notify?.addresses ?? null,
    wakeCrons: () => crons.wake(),
  };
  const crons = createCronScheduler(agent);
  const search = createSearchIndexer(agent, isSearched(config));
  return { agent, events, compaction, inbox, webhooks, notify, forward, worker, crons, search };
}

function createServerTenants(
  { limits, clock, log }: AgentServerPorts,
  { counted }: ServerLinks,
): { readonly tenants?: Tenants } {
  return limits === null ? {} : { tenants: createTenants(limits, { clock, log, onRefusal: counted.onLimit }) };
}

function createServerNotify(
  { notify, signIn, storage, clock, log }: AgentServerPorts,
  { publicUrl }: ServerLinks,
  wakeOutbox: () => void,
): Notify | null {
  return notify?.({ storage, clock, log, publicUrl, wakeOutbox, roleRules: signIn?.rules ?? null }) ?? null;
}

function createForward(
  { auditForward }: AgentConfig,
  { storage, clock, log, appendLines, versions }: AgentServerPorts,
  wakeOutbox: () => void,
): AuditForward | null {
  if (auditForward === null) return null;
  const agent = `holdpoint/${versions.holdpoint}`;
  const send = createAuditSender(auditForward, { appendLines, clock, agent });
  return createAuditForward(auditForward.place, { storage, clock, log, random: Math.random, send, wakeOutbox });
}

function createServerWebhooks(
  config: AgentConfig,
  ports: AgentServerPorts,
  links: ServerLinks,
  { notify, forward }: Pick<ServerContext, "notify" | "forward">,
): Webhooks {
  const { storage, clock, log, surface } = ports;
  return createWebhooks(
    {
      policy: ports.webhooks,
      secret: config.webhookSecret,
      attemptsMax: config.webhookAttemptsMax,
      retryMs: config.webhookRetryMs,
      userAgent: `holdpoint/${ports.versions.holdpoint}`,
    },
    {
      storage,
      clock,
      log,
      random: Math.random,
      post: (post, policy, limits, signal) =>
        post.url.startsWith("/")
          ? postHere(links.loopback, `${surface.mountPrefix}${post.url}`, post, { ...limits, signal })
          : guardedPost(post, policy, { ...limits, signal }, { resolve: resolveHost, clock }),
      isOwnRoute: (path) => surface.app?.claim("POST", path) === "first",
      onOutcome: links.counted.onWebhook,
      channels: { ...notify?.channels, ...(forward === null ? {} : { audit: forward.deliver }) },
    },
  );
}

function createServerWorker(
  config: AgentConfig,
  ports: AgentServerPorts,
  parts: ServerLinks &
    Pick<ServerContext, "events" | "compaction" | "inbox" | "webhooks"> &
    Pick<AgentContext, "notifier"> & { readonly agent: () => AgentContext },
): Worker {
  const { storage, graphs, engine, clock, log } = ports;
  const { events, compaction, inbox, webhooks, notifier, counted } = parts;
  return createWorker(
    {
      slots: countSlots(config),
      timeoutMs: config.jobTimeoutSecs * 1000,
      graceMs: config.shutdownGraceSecs * 1000,
      crashesMax: config.jobAttemptsMax,
      askAgainMax: config.askAgainMax,
    },
    {
      storage,
      graphs,
      events,
      engine,
      clock,
      log,
      notifier,
      answerByPolicy: (tx, paused) => answerByPolicy(parts.agent(), tx, paused),
      onPending: inbox.added,
      onRunEnd(run, durationMs, hasWebhooks) {
        counted.onRunEnd(run, durationMs);
        compaction.ended(run);
        if (notifier.takeStored() || hasWebhooks || run.request.webhook !== undefined) webhooks.wake();
      },
    },
  );
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

/** Slack's incoming webhooks take its own messages only. */
function chooseFormat(url: string): "event" | "slack" {
  return /^hooks\.slack(-gov)?\.com$/.test(new URL(url).hostname) ? "slack" : "event";
}
