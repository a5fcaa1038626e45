// Ports of the agent server: adapters and pages selected by src/main/.
import type { Clock } from "../../base/clock.ts";
import type { NewId } from "../../base/ids.ts";
import type { Service } from "../../base/lifecycle.ts";
import type { Log } from "../../base/log/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { HttpRoute } from "../../http/server/app.ts";
import type { Access, Engine, Graphs, Storage, Store, WebhookPolicy } from "../ports/ports.ts";
import type { Versions } from "../routes/meta.ts";
import type { Ttl } from "../threads/new-thread.ts";
import type { Surface } from "./api-surface.ts";
import type { LocalServices } from "./console-api.ts";

export interface AgentServerPorts {
  readonly storage: Storage & { readonly boundUnits: () => number };
  readonly store: Store & Service;
  readonly graphs: Graphs;
  readonly engine: Engine;
  /** Null without authentication. */
  readonly access: Access | null;
  readonly surface: Surface;
  readonly webhooks: WebhookPolicy;
  /** Routes outside the contract: pages. */
  readonly pages: readonly HttpRoute[];
  /** Additional API of the console; null without a console. */
  readonly localServices: LocalServices | null;
  readonly threadTtl: ThreadTtl;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly versions: Versions;
  /** A host program passes the requests: no port opens, and the host checks the Host header. */
  readonly embedded: boolean;
}

/** Time to live of threads, from the deployment's configuration file. */
export interface ThreadTtl {
  /** For new threads without a TTL of their own. */
  readonly fallback: Ttl;
  readonly sweepEveryMs: number | null;
}
