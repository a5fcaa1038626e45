// Collector servers: the HTTP and the gRPC server of the collector, as one service: they start and stop together, and share
// the way of an export (accept.ts).
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { isLoopbackAddress } from "@holdpoint/base/http/server/loopback-host.ts";
import { createHttpService } from "@holdpoint/base/http/server/server.ts";
import type { CollectorParts } from "./collector-parts.ts";
import type { AcceptPorts } from "../receive/accept.ts";
import { createGrpcReceiver } from "../receive/grpc-receiver.ts";
import { createGrpcService } from "../receive/grpc-service.ts";
import { createReceiver } from "../receive/http-receiver.ts";
import { createProgressWatch } from "../receive/read-body.ts";
import { createSharedTurn } from "../receive/shared-turn.ts";
import type { CollectorConfig } from "./settings.ts";

export interface ServersParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly parts: CollectorParts;
  readonly isStopping: () => boolean;
  /** null: the spool is writable, or there is none. */
  readonly unwritable: () => string | null;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Servers extends Service {
  address(): Address;
  /** null: GRPC_PORT is not set. */
  grpcAddress(): Address | null;
}

const RETRY_AFTER_SECONDS = 1;
const DRAIN_MS = 10_000;

export function createServers(config: CollectorConfig, servers: ServersParts): Servers {
  const { clock, parts } = servers;
  const { metrics, spool } = parts;
  const limits = { bodyBytesMax: config.bodyBytesMax, decompressedBytesMax: config.bodyBytesMax };
  const rules = { apiKey: config.apiKey, ingestToken: config.ingestToken, retryAfterSeconds: RETRY_AFTER_SECONDS };
  const hosts = { loopback: isLoopbackAddress(config.host), allowed: config.allowedHosts };
  const ports = acceptPorts(servers);
  const drainMs = Math.min(DRAIN_MS, config.shutdownTimeoutMs / 2);
  const http = createHttpService({
    name: "collector",
    host: config.host,
    port: config.httpPort,
    limits: { drainMs, requestTimeoutMs: 300_000 },
    listener: createReceiver(
      {
        ...rules,
        ...limits,
        hosts,
        corsOrigins: (config.corsOrigins ?? "").split(",").map((origin) => origin.trim()),
      },
      { ...ports, atRisk: () => spool?.missing() ?? null, metrics: metrics.show, onReply: metrics.onReply },
    ),
  });
  const accepting = { limits, ports, watch: createProgressWatch(clock), turn: createSharedTurn() };
  const listener = createGrpcReceiver({ options: { ...rules, hosts }, accepting, onReply: metrics.onGrpcReply });
  const { grpcPort, host } = config;
  const grpc = grpcPort === null ? null : createGrpcService({ host, port: grpcPort, drainMs, listener });
  return {
    name: "collector",
    async start() {
      await grpc?.start();
      try {
        await http.start();
      } catch (error) {
        await grpc?.stop();
        throw error;
      }
    },
    async stop() {
      await Promise.all([http.stop(), grpc?.stop()]);
    },
    address: () => http.address(),
    grpcAddress: () => grpc?.address() ?? null,
  };
}

function acceptPorts({ clock, isStopping, log, parts, unwritable }: ServersParts): AcceptPorts {
  const { admission, durable, forwarder, intake, limits, metrics, rules, tenants } = parts;
  return {
    clock,
    log,
    admission,
    tenants: tenants.of,
    limits,
    redactor: rules.redactor,
    forwarder,
    intake: (request) => {
      if (request.items.repairedTexts > 0) metrics.onMendedTexts(request.items.repairedTexts);
      return durable === null || unwritable() === null ? intake(request) : Promise.resolve("unwritable");
    },
    notReady: () => (isStopping() ? "the collector is stopping" : unwritable()),
    onNotStored: metrics.onNotStored,
  };
}
