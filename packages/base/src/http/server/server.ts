// Server: a node:http server as a service, with limits on every resource that a slow or hostile peer can hold.
// Invariants:
//   server.1. The server closes a silent or slow connection within `headersTimeoutMs` or `requestTimeoutMs`, in which time
//        it was not busy itself.
//   server.2. stop() accepts no new connection, lets requests in progress end until `drainMs`, then cuts them. A reply
//        is in progress until its last byte has left. A connection without one closes at once, every other as soon as
//        its reply has left.
//   server.3. A fault of the listening socket never ends the process.
//   server.5. A request that arrived in time is answered, also when a busy process reads it after the time limit.
//   - Every reply forbids content-type sniffing (nosniff): stored data must never run as a page.
import type { Duplex } from "node:stream";
import type {
  IncomingMessage,
  OutgoingHttpHeader,
  OutgoingHttpHeaders,
  RequestListener,
  Server,
  ServerResponse,
} from "node:http";
import { Server as NetServer, type AddressInfo } from "node:net";
import type { Service } from "../../lifecycle.ts";
import { watchLoop, type LoopWatch } from "./loop-watch.ts";

/** An `import` of it reads all its exports, and one of them loads the client behind `fetch`: 40 ms of each start. */
const { createServer, ServerResponse: NodeResponse } = process.getBuiltinModule("node:http");

/**
 * A header that is set before writeHead() makes Node copy every header of the reply once more: a hundredth of
 * the cost of a small request.
 */
class PlainResponse<R extends IncomingMessage = IncomingMessage> extends NodeResponse<R> {
  override writeHead(status: number, first?: string | Headers, second?: Headers): this {
    const headers = typeof first === "string" ? second : first;
    const isList = Array.isArray(headers) && this.getHeaderNames().length === 0;
    if (!isList) this.setHeader("X-Content-Type-Options", "nosniff");
    const all = isList ? [...headers, "X-Content-Type-Options", "nosniff"] : headers;
    return typeof first === "string" ? super.writeHead(status, first, all) : super.writeHead(status, all);
  }
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

export interface HttpLimits {
  readonly headersTimeoutMs: number;
  /** Time limit for receiving a whole request. The reply has no time limit. */
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly connectionsMax: number;
  readonly drainMs: number | (() => number);
}

const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 65_000,
  connectionsMax: 10_000,
  drainMs: 10_000,
};

export interface HttpService extends Service {
  /** The bound address, with the real port for `port: 0` in the options. Only after start(). */
  address(): { readonly host: string; readonly port: number };
}

export class ListenError extends Error {
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const why =
      cause.code === "EADDRINUSE"
        ? `port ${port} on ${host} is in use by another process: stop it, or set another port`
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
  /** Takes over the connections of WebSocket upgrades; without it they are ordinary requests. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly limits?: Partial<HttpLimits>;
  readonly stopMs?: number;
}): HttpService {
  const limits = { ...HTTP_LIMITS, ...options.limits };
  let running: { readonly server: Server; readonly connections: Connections; readonly watch: LoopWatch } | null = null;
  return {
    name: options.name,
    ...(options.stopMs === undefined ? {} : { stopMs: options.stopMs }),
    start: () =>
      new Promise((resolve, reject) => {
        const created = createServer(
          {
            ServerResponse: PlainResponse,
            headersTimeout: limits.headersTimeoutMs,
            requestTimeout: limits.requestTimeoutMs,
            keepAliveTimeout: limits.keepAliveMs,
            connectionsCheckingInterval: Math.min(2000, limits.headersTimeoutMs / 2), // server.1: Node's default checks every 30 s
            noDelay: true,
            shouldUpgradeCallback: ({ headers }) =>
              options.onUpgrade !== undefined && headers.upgrade?.toLowerCase() === "websocket",
          },
          options.listener,
        );
        if (options.onUpgrade !== undefined) created.on("upgrade", options.onUpgrade);
        created.maxConnections = limits.connectionsMax;
        const connections = trackConnections(created);
        refuseBrokenRequests(created, connections);
        created.on("error", (error) => reject(new ListenError(options.host, options.port, error))); // server.3: `on`, not `once`
        created.listen(options.port, options.host, () => {
          running = { server: created, connections, watch: extendLimits(created, limits) };
          resolve();
        });
      }),
    stop: () =>
      new Promise((resolve) => {
        if (running === null) return resolve();
        const { server, connections, watch } = running;
        running = null;
        const { drainMs } = limits;
        const cut = setTimeout(() => connections.cut(), typeof drainMs === "number" ? drainMs : drainMs()); // server.2
        // The HTTP server's own close() also destroys connections with an ended reply that has not left yet.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(cut);
          watch.stop();
          server.close(); // only ends its timer here
          resolve();
        });
        connections.drain();
      }),
    address: () => {
      const bound = running?.server.address() as AddressInfo | null | undefined;
      if (bound === null || bound === undefined) throw new Error(`${options.name} is not listening`);
      return { host: bound.address, port: bound.port };
    },
  };
}

/** server.5. Node reads both at each check, which it makes before it reads what has arrived. */
function extendLimits(server: Server, { headersTimeoutMs, requestTimeoutMs }: HttpLimits): LoopWatch {
  const watch = watchLoop(headersTimeoutMs, requestTimeoutMs);
  Object.defineProperties(server, {
    headersTimeout: { get: () => watch.extend(headersTimeoutMs) },
    requestTimeout: { get: () => watch.extend(requestTimeoutMs) },
  });
  return watch;
}

/** As Node does without a listener. */
function refuseBrokenRequests(server: Server, connections: Connections): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const status = REFUSALS[error.code ?? ""] ?? "400 Bad Request";
    if (socket.writable && !connections.hasBegunReply(socket))
      socket.write(`HTTP/1.1 ${status}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n`);
    socket.destroy(error);
  });
}

const REFUSALS: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
};

interface Connections {
  readonly hasBegunReply: (socket: Duplex) => boolean;
  /** Closes each connection once it has no reply in progress. */
  drain(): void;
  /** Destroys all remaining connections. */
  cut(): void;
}

function trackConnections(server: Server): Connections {
  const repliesBySocket = new Map<Duplex, Set<ServerResponse>>();
  let draining = false;
  server.on("connection", (socket) => {
    repliesBySocket.set(socket, new Set());
    socket.once("close", () => repliesBySocket.delete(socket));
  });
  server.prependListener("request", ({ socket }, response) => {
    const replies = repliesBySocket.get(socket);
    replies?.add(response);
    if (draining) response.shouldKeepAlive = false;
    response.once("close", () => {
      replies?.delete(response);
      if (draining && replies?.size === 0) socket.destroySoon();
    });
  });
  return {
    hasBegunReply: (socket) => [...(repliesBySocket.get(socket) ?? [])].some(({ headersSent }) => headersSent),
    drain() {
      draining = true;
      for (const [socket, replies] of repliesBySocket) {
        if (replies.size === 0) socket.destroy();
        for (const response of replies) response.shouldKeepAlive = false;
      }
    },
    cut() {
      for (const socket of repliesBySocket.keys()) socket.destroy();
    },
  };
}
