// Server: a node:http server as a service, with limits on everything a slow or hostile peer can hold.
// Invariants:
//   S1. A peer that sends nothing, or drips, is closed within `headersTimeoutMs` or `requestTimeoutMs`.
//   S2. stop() takes no new connection, lets requests in progress end until `drainMs`, then cuts them.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Service } from "../base/lifecycle.ts";

export interface HttpLimits {
  readonly headersTimeoutMs: number;
  /** Time for a request to arrive whole. The reply may take as long as it likes. */
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly connectionsMax: number;
  readonly drainMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 65_000,
  connectionsMax: 10_000,
  drainMs: 10_000,
};

export interface HttpService extends Service {
  /** The bound address; `port: 0` in the options becomes a real port here. Only after start(). */
  address(): { readonly host: string; readonly port: number };
}

export class ListenError extends Error {
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const why =
      cause.code === "EADDRINUSE"
        ? `port ${port} on ${host} is taken by another process: stop it, or set another port`
        : `cannot listen on ${host}:${port}: ${cause.message}`;
    super(why, { cause });
    this.name = "ListenError";
  }
}

export function createHttpService(options: {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly listener: RequestListener;
  readonly limits?: Partial<HttpLimits>;
}): HttpService {
  const limits = { ...HTTP_LIMITS, ...options.limits };
  let server: Server | null = null;
  return {
    name: options.name,
    start: () =>
      new Promise((resolve, reject) => {
        const created = createServer(
          {
            headersTimeout: limits.headersTimeoutMs,
            requestTimeout: limits.requestTimeoutMs,
            keepAliveTimeout: limits.keepAliveMs,
            connectionsCheckingInterval: Math.min(2000, limits.headersTimeoutMs / 2), // S1: Node's default looks every 30 s
            noDelay: true,
          },
          options.listener,
        );
        created.maxConnections = limits.connectionsMax;
        created.once("error", (error) => reject(new ListenError(options.host, options.port, error)));
        created.listen(options.port, options.host, () => {
          server = created;
          resolve();
        });
      }),
    stop: () =>
      new Promise((resolve) => {
        if (server === null) return resolve();
        const closing = server;
        server = null;
        const cut = setTimeout(() => closing.closeAllConnections(), limits.drainMs); // S2
        closing.close(() => {
          clearTimeout(cut);
          resolve();
        });
        closing.closeIdleConnections();
      }),
    address: () => {
      const bound = server?.address() as AddressInfo | null | undefined;
      if (bound === null || bound === undefined) throw new Error(`${options.name} is not listening`);
      return { host: bound.address, port: bound.port };
    },
  };
}
