// Agent context: the dependencies of operations. An operation is a function of the context and a request; routes call
// only operations.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { ConfigurableHeaders } from "../auth/configurable-headers.ts";
import type { Tenants } from "../auth/tenants.ts";
import type { Interrupt, Policy, Thread } from "../model/model.ts";
import type { Notifier } from "../webhooks/interrupt-notifier.ts";
import type { Access, Graphs, Storage, Store, TraceEraser } from "../ports/ports.ts";
import type { AnswerAddresses } from "../ports/answer-addresses.ts";
import type { InboxChanges, QueueLimit, RunEvents, SearchIndex, WebhookOutbox, Worker } from "./services.ts";

export interface AgentContext {
  readonly storage: Storage;
  /** The long-term memory. */
  readonly store: Store;
  /** Null where no trace store is set up. */
  readonly traces: TraceEraser | null;
  readonly graphs: Graphs;
  /** Null without authentication. */
  readonly access: Access | null;
  /** Whether a person who answers by e-mail is still one: the notification file may name that person no more. */
  readonly isContact: (name: string, item: Pick<Interrupt, "review" | "claim">) => boolean;
  readonly headers: ConfigurableHeaders;
  readonly worker: Worker;
  readonly events: RunEvents;
  readonly inbox: InboxChanges;
  readonly webhooks: WebhookOutbox;
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  /** Those of langgraph.json. */
  readonly configPolicies: readonly Policy[];
  readonly limits: AgentLimits;
  readonly queueLimit: QueueLimit;
  /** Absent without limits of keys and tenants. */
  readonly tenants?: Tenants;
  readonly search: SearchIndex;
  /** Address of the server for links to the console. */
  readonly publicUrl: () => string;
  /** Null where no answer addresses are set up. */
  readonly addresses: AnswerAddresses | null;
  /** Reports a new or changed cron, so that the scheduler recalculates its next tick. */
  readonly wakeCrons: () => void;
}

export interface AgentLimits {
  readonly assistantsMax: number;
  readonly cronsMax: number;
  /** Size of a request member that is small by nature (api/member-size.ts), in bytes of JSON. */
  readonly memberBytesMax: number;
  /** Size of the answers of one call, in bytes of JSON. */
  readonly answerBytesMax: number;
  /** Default for new threads without a TTL of their own. */
  readonly threadTtl: Pick<Thread, "ttlMs" | "ttlStrategy">;
}
