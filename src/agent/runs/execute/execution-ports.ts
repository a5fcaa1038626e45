import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log/log.ts";
import type { Claimed } from "./claim-run.ts";
import type { EventHub } from "../../events/event-hub.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { Notifier } from "../../webhooks/interrupt-notifier.ts";
import type { Awaitable, Graphs, Storage, Tx } from "../../ports/ports.ts";

export interface ExecutePorts {
  readonly storage: Storage;
  readonly graphs: Graphs;
  readonly clock: Clock;
  readonly log: Log;
  readonly crashesMax: number;
  /** Claims another run for the slot, in the transaction that ends this one. */
  readonly claimNext: (tx: Tx) => Awaitable<Claimed | null>;
  /** How long a thread that is to go with its last run is left for those who read its end elsewhere. */
  readonly leaveMs: number;
  /** Nobody else could take the run up. */
  readonly alone: boolean;
  /** Asked before each step: false when another worker may have the run by now. */
  readonly mayGoOn: () => boolean;
  /** The graph has ended: what follows is storing it. */
  readonly onGraphEnd: () => void;
  /** The transaction that was to end the run, and to claim the next, has failed. */
  readonly onFailure: (error: unknown) => void;
  /** The end cannot be stored at present. */
  readonly onUnstored: () => void;
  readonly isDraining: () => boolean;
  readonly events: EventHub;
  readonly eventLog: EventLog;
  readonly notifier: Notifier;
}
