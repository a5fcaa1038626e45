// HTTP listener: the routes of the server behind one request handler.
import type { RequestListener } from "node:http";
import { createApp, type HttpRequest } from "@holdpoint/base/http/server/app.ts";
import { createCors } from "@holdpoint/base/http/server/cors.ts";
import { isLoopbackAddress } from "@holdpoint/base/http/server/loopback-host.ts";
import type { AgentContext } from "../context/context.ts";
import { BODY_BYTES_MAX } from "../model/state-memory.ts";
import { protocolRoutes } from "../protocol/routes.ts";
import type { OnUpgrade } from "../protocol/socket/socket-upgrade.ts";
import { assistantsVersion } from "../threads/assistants/assistants.ts";
import { assistantRoutes } from "../routes/assistants.ts";
import { cronRoutes } from "../routes/crons.ts";
import { identityRoutes } from "../routes/identity.ts";
import { auditRoutes } from "../routes/audit.ts";
import { inboxRoutes } from "../routes/inbox/inbox.ts";
import { policyRoutes } from "../routes/inbox/policies.ts";
import { requestRoutes } from "../routes/inbox/requests.ts";
import { metaRoutes } from "../routes/meta.ts";
import type { AgentRoute } from "../routes/route.ts";
import { runRoutes } from "../routes/runs.ts";
import { statelessRoutes } from "../routes/stateless.ts";
import { storeRoutes } from "../routes/store.ts";
import { streamRoutes } from "../routes/streams.ts";
import { threadRoutes } from "../routes/threads.ts";
import { corsRules, customApp, served } from "./api-surface.ts";
import { consoleApiRoutes } from "./console-api.ts";
import { signInRoutes } from "./sign-in-routes.ts";
import type { AgentMetrics } from "./metrics.ts";
import type { ServerContext } from "./server-context.ts";
import type { AgentServerPorts, GatewayServer } from "./server-ports.ts";
import { inScope } from "../auth/scope.ts";
import type { Storage } from "../ports/ports.ts";
import type { AgentConfig } from "./settings.ts";
import type { ThreadsInScope } from "./traces-in-scope.ts";

const threadsInScope =
  (storage: Storage): ThreadsInScope =>
  (ids, scope) =>
    storage.read(async (tx) => {
      const seen = new Set<string>();
      for (const id of ids) {
        const thread = await tx.thread(id);
        if (thread !== null && inScope(thread.metadata, scope)) seen.add(id);
      }
      return seen;
    });

export function createListener(
  config: AgentConfig,
  ports: AgentServerPorts,
  { agent, notify }: Pick<ServerContext, "agent" | "notify">,
  { counted, ...server }: { readonly counted: AgentMetrics } & Pick<GatewayServer, "loopback" | "publicUrl">,
): RequestListener {
  const { access, surface } = ports;
  const authenticate = async (request: HttpRequest): Promise<string> =>
    (await access?.authenticate(request))?.name ?? "";
  return createApp({
    routes: [
      ...servedRoutes(config, ports, agent).map((one) => one.bind(agent)),
      ...(ports.localServices === null
        ? []
        : consoleApiRoutes(ports.localServices, access, ports.signIn?.sessions, threadsInScope(ports.storage))),
      ...(config.role === "worker" ? [] : (notify?.routes(agent) ?? [])),
      ...(ports.signIn === null || config.role === "worker" ? [] : signInRoutes(ports.signIn, server.publicUrl)),
      ...(config.role === "worker"
        ? []
        : ports.gateways({
            ...server,
            authenticate,
            marks: createMarks(agent),
            onStop: agent.events.onStop,
            assistantsVersion: () => assistantsVersion(agent),
          })),
      ...ports.pages,
    ],
    custom: customApp(surface, access),
    prefix: surface.mountPrefix,
    cors: corsRules(surface),
    bodyBytesMax: Math.min(config.bodyBytesMax, BODY_BYTES_MAX),
    takesBodies: agent.worker.takesBodies,
    hosts: { loopback: !ports.embedded && isLoopbackAddress(config.host), allowed: config.allowedHosts },
    log: ports.log,
    onReply: counted.onReply,
    monotonic: ports.clock.monotonic,
  });
}

const MARK_MS = 31 * 24 * 60 * 60 * 1000;

function createMarks({ storage, clock }: AgentContext): GatewayServer["marks"] {
  return {
    async put(mark) {
      const now = clock.now();
      await storage.transaction((tx) => tx.spendToken(mark, now + MARK_MS, now));
    },
    has: (mark) => storage.read((tx) => tx.isSpent(mark)),
  };
}

/** Loads the library of sockets at the first upgrade. Node reads nothing from the connection until then. */
export function createUpgradeHandler(
  config: AgentConfig,
  { surface }: AgentServerPorts,
  agent: AgentContext,
): OnUpgrade {
  const load = async (): Promise<OnUpgrade> => {
    const { createUpgrade } = await import("../protocol/socket/socket-upgrade.ts");
    return createUpgrade(agent, {
      prefix: surface.mountPrefix,
      hosts: { loopback: isLoopbackAddress(config.host), allowed: config.allowedHosts },
      cors: createCors(corsRules(surface)),
    });
  };
  let loaded: Promise<OnUpgrade> | null = null;
  return (request, raw, head) => {
    raw.on("error", () => raw.destroy());
    loaded ??= load();
    loaded.then(
      (upgrade) => upgrade(request, raw, head),
      (error: unknown) => {
        loaded = null;
        agent.log.error("upgrade_failed", { reason: String(error) });
        raw.destroy();
      },
    );
  };
}

/** A worker process serves only the meta routes. */
function servedRoutes(
  config: AgentConfig,
  { surface, metrics, versions }: AgentServerPorts,
  agent: AgentContext,
): readonly AgentRoute[] {
  const routes = config.role === "worker" ? [] : served(operationRoutes(config, agent), surface);
  const operations = routes.map(({ operation }) => operation);
  const meta = metaRoutes(agent, { metrics, versions, operations, prefix: surface.mountPrefix });
  return [...routes, ...served(meta, surface)];
}

function operationRoutes(config: AgentConfig, agent: AgentContext): readonly AgentRoute[] {
  return [
    ...threadRoutes(agent),
    ...runRoutes(agent, config.keepAliveMs),
    ...statelessRoutes(agent, config.keepAliveMs),
    ...inboxRoutes(agent, config.streamHeartbeatMs),
    ...requestRoutes(agent, config.streamHeartbeatMs),
    ...policyRoutes(agent),
    ...auditRoutes(agent),
    ...assistantRoutes(agent),
    ...storeRoutes(agent),
    ...cronRoutes(agent),
    ...identityRoutes(agent),
    ...streamRoutes(agent, config.streamHeartbeatMs),
    ...protocolRoutes(agent, config.streamHeartbeatMs),
  ];
}
