// Ports of the agent server: adapters and pages selected by packages/holdpoint/src/main/.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Metrics } from "@holdpoint/base/metrics.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { Loopback } from "@holdpoint/base/http/server/loopback-client.ts";
import type { SignInPorts } from "../auth/sign-in.ts";
import type { AuditEntry, Policy, TenantLimits } from "../model/model.ts";
import type { Access, Engine, Graphs, Storage, Store, WebhookPolicy } from "../ports/ports.ts";
import type { Versions } from "../routes/meta.ts";
import type { Ttl } from "../threads/new-thread.ts";
import type { Surface } from "./api-surface.ts";
import type { LocalServices } from "./console-api.ts";
import type { CreateNotify } from "./notify-service.ts";

export interface AgentServerPorts {
  readonly storage: Storage & { readonly boundUnits: () => number };
  readonly store: Store & Service;
  readonly graphs: Graphs;
  readonly engine: Engine;
  /** Null without authentication. */
  readonly access: Access | null;
  /** Null without sign-in. */
  readonly signIn: SignInPorts | null;
  /** Null without authentication. */
  readonly refusals: Service | null;
  readonly surface: Surface;
  readonly webhooks: WebhookPolicy;
  /** Null without notification rules. */
  readonly notify: CreateNotify | null;
  /** Null without a data folder. */
  readonly takeCommandActs: TakeCommandActs | null;
  /** Appends to a file, and resolves once the lines are on disk. */
  readonly appendLines: (path: string, lines: string) => Promise<void>;
  /** Routes outside the contract: pages. */
  readonly pages: readonly HttpRoute[];
  /** Routes of other protocols, which call the API in the name of their callers. */
  readonly gateways: (server: GatewayServer) => readonly HttpRoute[];
  /** Additional API of the console; null without a console. */
  readonly localServices: LocalServices | null;
  /** Routes of the trace store, with a console or without; null without a store. */
  readonly traces: readonly HttpRoute[] | null;
  readonly threadTtl: ThreadTtl;
  /** Those of langgraph.json. */
  readonly policies: readonly Policy[];
  readonly limits: TenantLimits | null;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly versions: Versions;
  /** A host program passes the requests: no port opens, and the host checks the Host header. */
  readonly embedded: boolean;
}

/** Acts that commands left beside the data of this server. @param record of one, which is left until this resolves */
export type TakeCommandActs = (record: (act: AuditEntry) => Promise<void>) => Promise<void>;

/** The server, as its gateways use it. */
export interface GatewayServer {
  readonly loopback: Loopback;
  /** Address of the server as people reach it, with its prefix. */
  readonly publicUrl: () => string;
  /** Called before the port waits for its replies. */
  readonly onStop: (callback: () => void) => void;
  /** A text that changes with every change of the assistants, in any process. */
  readonly assistantsVersion: () => Promise<string>;
  /** @returns the caller's name; `""` without authentication @throws {ApiError} `unauthenticated` */
  readonly authenticate: (request: HttpRequest) => Promise<string>;
  /** Marks in the storage, each for a month. */
  readonly marks: {
    readonly put: (mark: string) => Promise<void>;
    readonly has: (mark: string) => Promise<boolean>;
  };
}

/** Time to live of threads, from the deployment's configuration file. */
export interface ThreadTtl {
  /** For new threads without a TTL of their own. */
  readonly fallback: Ttl;
  readonly sweepEveryMs: number | null;
  readonly expirePaused: boolean;
}
