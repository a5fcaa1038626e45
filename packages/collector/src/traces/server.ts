// Trace server: the embedded tracing backend on one port, for this machine only. Its store is a SQLite file, or that of
// postgres/.
// The pieces:
//   ingest.ts       uploads in: the backend's ingest API
//   upload-body.ts  the bytes of an upload, limited and decompressed
//   multipart.ts    a multipart body to its parts
//   run-change.ts   an upload's data of one run
//   write.ts        run changes to rows, within the limits of the store
//   write-run.ts    one run change to the rows of its run
//   sealed-cells.ts contents, sealed with the keys of the operator
//   trace-keys.ts   the keys that stored rows need
//   merged-run.ts   a change on top of the stored run
//   story.ts        status, times, waits and result of a whole trace
//   preview.ts      inputs and outputs as one line
//   run-share.ts    the part of a run that its trace sums up
//   facts.ts        the columns for search and lists
//   database.ts     the SQLite file and its tables
//   store.ts        the store as a service
//   final-output.ts the result of a trace whose root has none
//   replies.ts      rows as objects of the read API
//   query.ts        searches, traces and runs out of the store
//   remote.ts       the read API of a store in another process
//   erase.ts        deletion of the traces of a thread
//   routes.ts       the read API for the console and the command line
//   settings.ts     the settings
import type { RequestListener } from "node:http";
import type { Clock } from "@holdpoint/base/clock.ts";
import { group, type Service } from "@holdpoint/base/lifecycle.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { DATABASE_SETTINGS } from "@holdpoint/base/config/shared-settings.ts";
import { createApp } from "@holdpoint/base/http/server/app.ts";
import { LOOPBACK_CORS } from "@holdpoint/base/http/server/cors.ts";
import { createHttpService, type HttpService } from "@holdpoint/base/http/server/server.ts";
import { createIngest } from "./ingest.ts";
import { traceRoutes } from "./routes.ts";
import type { TraceConfig } from "./settings.ts";
import { createTraceStore, type TraceStore } from "./store.ts";

export interface TraceServer extends Service {
  readonly store: TraceStore;
  readonly address: HttpService["address"];
}

const LOOPBACK = "127.0.0.1";
const QUERY_BODY_BYTES_MAX = 8192;

export function createTraceServer(
  config: Omit<TraceConfig, keyof typeof DATABASE_SETTINGS | "encryptionKeys">,
  ports: {
    readonly clock: Clock;
    readonly log: Log;
    readonly version: string;
    /** Null without encryption. */
    readonly ring: Keyring | null;
    /** False: the port takes uploads, and no one reads traces there. */
    readonly queries?: boolean;
    /** Instead of the file in the data folder. */
    readonly store?: TraceStore;
  },
): TraceServer {
  const { clock, log, ring, version, queries = true } = ports;
  const store = ports.store ?? createTraceStore(config.dataDir, config, { clock, log, ring });
  const hosts = { loopback: true, allowed: config.allowedHosts };
  const ingest = createIngest({ store, hosts, version, log });
  const questions = createApp({
    routes: traceRoutes(store),
    custom: null,
    prefix: "",
    cors: LOOPBACK_CORS,
    bodyBytesMax: QUERY_BODY_BYTES_MAX,
    hosts,
    log,
    onReply: () => undefined,
    monotonic: clock.monotonic,
  });
  const listener: RequestListener = (incoming, outgoing) =>
    (queries && incoming.url?.startsWith("/traces") === true ? questions : ingest)(incoming, outgoing);
  const http = createHttpService({ name: "traces http", host: LOOPBACK, port: config.tracePort, listener });
  const parts = group("trace server", [store, http]);
  return {
    name: parts.name,
    store,
    address: () => http.address(),
    start: () => parts.start(),
    stop: () => parts.stop(),
  };
}
