// gRPC service: the HTTP/2 server of the gRPC receiver as a service, with limits on every resource of a peer.
// Invariants:
//   grpc-service.1. A session without a call for SESSION_IDLE_MS ends, and one that never begins HTTP/2 after
//        `prefaceMs`; a peer has at most STREAMS_MAX calls and a bounded memory. Slow calls end by the watch of accept.ts.
//   - stop() accepts no new session, sends GOAWAY to the open ones, and cuts them after `drainMs`.
//   - A fault of a session or of the listening socket never ends the process.
//   grpc-service.4. Idle sessions never block new senders: at `sessionsMax` a new session replaces the one that has been
//        idle for longest.
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import { withoutBlocks } from "@holdpoint/base/http/server/loop-watch.ts";
import { ListenError } from "@holdpoint/base/http/server/server.ts";
import type { GrpcListener } from "./grpc-receiver.ts";

export interface GrpcServiceOptions {
  readonly host: string;
  readonly port: number;
  readonly drainMs: number;
  readonly listener: GrpcListener;
  readonly sessionsMax?: number;
  readonly prefaceMs?: number;
}

export interface GrpcService extends Service {
  /** Only after start(). */
  address(): { readonly host: string; readonly port: number };
}

const SESSION_IDLE_MS = 300_000;
const SESSIONS_MAX = 1000;
/** Sockets of sessions that are about to end. */
const SPARE_CONNECTIONS = 100;
const PREFACE_MS = 10_000;
const STREAMS_MAX = 100;
const SESSION_MIB_MAX = 10;
/** Window of one stream, in transit: exporters send a few hundred kilobytes a call. */
const WINDOW_BYTES = 1024 * 1024;
const HEADER_PAIRS_MAX = 128;
const HEADER_BYTES_MAX = 64 * 1024;

export function createGrpcService(options: GrpcServiceOptions): GrpcService {
  const { drainMs, host, listener, port, prefaceMs = PREFACE_MS, sessionsMax = SESSIONS_MAX } = options;
  let running: Http2Server | null = null;
  const sessions = trackSessions({ prefaceMs, sessionsMax });

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
        server.maxConnections = sessionsMax + SPARE_CONNECTIONS;
        server.on("error", (error) => reject(new ListenError(host, port, error))); // `on`, not `once`
        server.on("sessionError", ignore);
        server.on("session", sessions.add);
        server.on("stream", (stream, headers, _flags, rawHeaders) => {
          sessions.countCall(stream as ServerHttp2Stream);
          listener(stream as ServerHttp2Stream, headers, rawHeaders);
        });
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
        const cut = setTimeout(() => sessions.cut(), drainMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        sessions.close();
      }),
    address: () => {
      const bound = running?.address() as AddressInfo | null | undefined;
      if (bound === null || bound === undefined) throw new Error("the gRPC service is not listening");
      return { host: bound.address, port: bound.port };
    },
  };
}

interface Sessions {
  readonly add: (session: ServerHttp2Session) => void;
  readonly countCall: (stream: ServerHttp2Stream) => void;
  /** Each ends after its calls. */
  readonly close: () => void;
  readonly cut: () => void;
}

function trackSessions(limits: { readonly prefaceMs: number; readonly sessionsMax: number }): Sessions {
  /** Active calls of each session; the one whose last call began first is first. */
  const sessions = new Map<ServerHttp2Session, number>();
  return {
    add(session) {
      session.on("error", ignore);
      if (sessions.size >= limits.sessionsMax) {
        const idle = [...sessions].find(([, calls]) => calls === 0)?.[0]; // grpc-service.4
        if (idle === undefined) return session.destroy();
        sessions.delete(idle);
        idle.destroy();
      }
      sessions.set(session, 0);
      session.setTimeout(SESSION_IDLE_MS, () => session.close()); // grpc-service.1
      const cancel = withoutBlocks(limits.prefaceMs, () => session.destroy());
      session.once("remoteSettings", cancel);
      session.once("close", () => {
        cancel();
        sessions.delete(session);
      });
    },
    countCall(stream) {
      const { session } = stream as { readonly session: ServerHttp2Session | undefined };
      const calls = session === undefined ? undefined : sessions.get(session);
      if (session === undefined || calls === undefined) return;
      sessions.delete(session); // the newest is last
      sessions.set(session, calls + 1);
      stream.once("close", () => {
        const left = sessions.get(session);
        if (left !== undefined) sessions.set(session, left - 1);
      });
    },
    close() {
      for (const session of sessions.keys()) session.close();
    },
    cut() {
      for (const session of sessions.keys()) session.destroy();
    },
  };
}

const ignore = (): void => undefined;
