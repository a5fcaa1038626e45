// Ports of run execution: of the worker, and of one attempt in it.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Claimed } from "./claim-run.ts";
import type { Finished } from "./finish-run.ts";
import type { EventHub } from "../../events/event-hub.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { Interrupt, Run } from "../../model/model.ts";
import type { StateSize } from "../../model/state-memory.ts";
import type { Notifier } from "../../webhooks/interrupt-notifier.ts";
import type { AcceptTx, Awaitable, ClaimTx, Engine, Graphs, Storage } from "../../ports/ports.ts";

export interface WorkerOptions {
  readonly slots: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly crashesMax: number;
  /** How often a question is asked again after its node threw. */
  readonly askAgainMax: number;
}

/** Answers of policies to the questions of a pause. */
export interface PolicyAnswers {
  /** The items that stay open, for messages. */
  readonly open: readonly Interrupt[];
  /** Those of them that can be answered now. */
  readonly pending: readonly Interrupt[];
  /** Called after the commit. */
  readonly publish: () => void;
}

export interface WorkerPorts {
  readonly storage: Storage;
  readonly graphs: Graphs;
  readonly events: EventHub;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly notifier: Notifier;
  /** Called in the transaction that stores new questions. @returns null if no policy answers */
  readonly answerByPolicy: (tx: AcceptTx, paused: Finished) => Promise<PolicyAnswers | null>;
  readonly onRunEnd: (run: Run, durationMs: number, hasWebhooks: boolean) => void;
  /** Called after the commit with the new inbox items. */
  readonly onPending: (items: readonly Interrupt[], metadata: JsonObject) => void;
}

export interface ExecutePorts {
  readonly storage: Storage;
  readonly graphs: Graphs;
  readonly clock: Clock;
  readonly log: Log;
  readonly crashesMax: number;
  readonly askAgainMax: number;
  /** Claims another run for the slot, in the transaction that ends this one. */
  readonly claimNext: (tx: ClaimTx) => Awaitable<Claimed | null>;
  /** Delay before a thread is deleted with its last run, for readers in other processes and slow ones in this one. */
  readonly leaveMs: () => number;
  /** Called before each step: false if another worker may own the run. */
  readonly mayContinue: () => boolean;
  /** Notes the size of the state. @returns false if the run has to wait for memory */
  readonly holdsState: (size: StateSize) => boolean;
  /** The graph has ended; only the storage of its end remains. */
  readonly onGraphEnd: () => void;
  /** Reports a failed transaction that ends the run and claims the next. */
  readonly onFailure: (error: unknown) => void;
  /** Reports that the end cannot be stored at present. */
  readonly onUnstored: () => void;
  readonly isDraining: () => boolean;
  readonly events: EventHub;
  readonly eventLog: EventLog;
  readonly notifier: Notifier;
  readonly answerByPolicy: WorkerPorts["answerByPolicy"];
}
