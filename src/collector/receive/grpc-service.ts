// gRPC service: the HTTP/2 server of the gRPC receiver as a service, with limits on every resource of a peer.
// Invariants:
//   grpc-service.1. A session without a call for SESSION_IDLE_MS ends; a peer has at most STREAMS_MAX calls and a bounded
//        memory. Slow bodies end by the watch of accept.ts.
//   grpc-service.2. stop() accepts no new session, sends GOAWAY to the open ones, and cuts them after `drainMs`.
//   grpc-service.3. A fault of a session or of the listening socket never ends the process.
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Service } from "../../base/lifecycle.ts";
import { ListenError } from "../../http/server/server.ts";
import type { GrpcListener } from "./grpc-receiver.ts";

export interface GrpcServiceOptions {
  readonly host: string;
  readonly port: number;
  readonly drainMs: number;
  readonly listener: GrpcListener;
}

export interface GrpcService extends Service {
  /** Only after start(). */
  address(): { readonly host: string; readonly port: number };
}

const SESSION_IDLE_MS = 300_000;
const SESSIONS_MAX = 1000;
const STREAMS_MAX = 100;
const SESSION_MIB_MAX = 10;
/** Of one stream, in transit: exporters send a few hundred kilobytes a call. */
const WINDOW_BYTES = 1024 * 1024;
const HEADER_PAIRS_MAX = 128;
const HEADER_BYTES_MAX = 64 * 1024;

export function createGrpcService({ host, port, drainMs, listener }: GrpcServiceOptions): GrpcService {
  let running: Http2Server | null = null;
  const sessions = new Set<ServerHttp2Session>();

  function track(session: ServerHttp2Session): void {
    sessions.add(session);
    session.on("error", ignore); // grpc-service.3
    session.setTimeout(SESSION_IDLE_MS, () => session.close()); // grpc-service.1
    session.once("close", () => sessions.delete(session));
  }

  return {
    name: "collector (gRPC)",
    start: () =>
      new Promise((resolve, reject) => {
        const server = createServer({
          maxSessionMemory: SESSION_MIB_MAX,
          maxHeaderListPairs: HEADER_PAIRS_MAX,
          settings: {
            maxConcurrentStreams: STREAMS_MAX,
            initialWindowSize: WINDOW_BYTES,
            maxHeaderListSize: HEADER_BYTES_MAX,
            enablePush: false,
          },
        });
        server.maxConnections = SESSIONS_MAX;
        server.on("error", (error) => reject(new ListenError(host, port, error))); // `on`, not `once`: grpc-service.3
        server.on("sessionError", ignore);
        server.on("session", track);
        server.on("stream", (stream, headers, _flags, rawHeaders) =>
          listener(stream as ServerHttp2Stream, headers, rawHeaders),
        );
        server.listen(port, host, () => {
          running = server;
          resolve();
        });
      }),
    stop: () =>
      new Promise((resolve) => {
        if (running === null) return resolve();
        const server = running;
        running = null;
        const cut = setTimeout(() => sessions.forEach((session) => session.destroy()), drainMs); // grpc-service.2
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        for (const session of sessions) session.close();
      }),
    address: () => {
      const bound = running?.address() as AddressInfo | null | undefined;
      if (bound === null || bound === undefined) throw new Error("the gRPC service is not listening");
      return { host: bound.address, port: bound.port };
    },
  };
}

const ignore = (): void => undefined;
