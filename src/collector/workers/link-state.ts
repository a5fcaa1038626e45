// Link state: the receiving thread's view of one worker, and the steps that change it.
// Invariants:
//   link-state.1. Every item of a fed share leaves once: in a batch, as a misplaced run, or in a counter. The items
//        that have not left are those that a crash loses (memory mode) or that are replayed (durable mode).
//   link-state.2. Bytes count as held from their post until the worker has fed them; then the worker reports them.
import type { Log } from "../../base/log/log.ts";
import type { Delivery } from "../pipeline/delivery.ts";
import type { PipelineStats } from "../pipeline/pipeline.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { SpanOrigin } from "../shared/span-origin.ts";
import type { Tenants } from "../shared/tenants.ts";
import type { Spool } from "../spool/port.ts";
import type { BackendLimits } from "../upload/backend/port.ts";
import type { ToWorker } from "./messages.ts";
import { type OpenShare, pendingIn } from "./open-share.ts";
import type { Outbox } from "./outbox.ts";

export interface LinkPorts {
  readonly log: Log;
  readonly accounting: SpanAccounting;
  readonly tenants: Tenants;
  readonly delivery: Delivery;
  readonly backendLimits: () => BackendLimits;
  /** null in memory mode. */
  readonly spool: Pick<Spool, "requestDone"> | null;
  /** The worker has fed a share: there may be room for more. */
  readonly onRoom: () => void;
}

/** A message that waits for its worker; `share` is that of a message with bytes. */
export interface WaitingMessage {
  readonly message: ToWorker;
  readonly memory: ArrayBuffer | undefined;
  readonly share: OpenShare | null;
}

export interface LinkState {
  readonly number: number;
  readonly ports: LinkPorts;
  readonly outbox: Outbox<ToWorker>;
  readonly shares: Map<number, OpenShare>;
  /** As the worker reports them. */
  readonly heldOf: Map<string, number>;
  readonly transitOf: Map<string, number>;
  /** Batches on their way to the spool. */
  readonly delivering: Set<Promise<void>>;
  isOpen: boolean;
  waiting: WaitingMessage[];
  flushes: PromiseWithResolvers<void>[];
  limits: BackendLimits;
  transitBytes: number;
  heldBytes: number;
  stats: PipelineStats | null;
  /** Fed items that have not left (link-state.1). */
  pending: number;
}

/** link-state.2. */
export function moveBytes(link: LinkState, { bytes, tenantId }: OpenShare, sign: 1 | -1): void {
  link.transitBytes += sign * bytes;
  const left = (link.transitOf.get(tenantId) ?? 0) + sign * bytes;
  if (left === 0) link.transitOf.delete(tenantId);
  else link.transitOf.set(tenantId, left);
}

export function closeShare(link: LinkState, share: OpenShare): void {
  if (link.shares.delete(share.id) && share.state !== "fed") moveBytes(link, share, -1);
}

/** Items leave their worker: returns their origins in the spool, none in memory mode. */
export function leave(link: LinkState, id: number, positions: readonly number[]): SpanOrigin[] {
  const share = link.shares.get(id);
  const request = share?.stored ?? null;
  if (share === undefined || request === null) return [];
  for (const position of positions) share.handed.add(position);
  if (share.state === "fed" && share.handed.size >= share.positions.length) link.shares.delete(id);
  return positions.map((index) => ({ request, index }));
}

export function track(link: LinkState, work: Promise<void>): void {
  const tracked = work.finally(() => link.delivering.delete(tracked));
  link.delivering.add(tracked);
}

/** Items that a crash loses, or that are counted now and once more after their replay. */
export function bookCrash(link: LinkState, fed: readonly OpenShare[]): void {
  const { accounting, spool } = link.ports;
  const { pending } = link;
  link.pending = 0;
  if (spool === null) {
    accounting.lost.worker_crashed += pending;
    return;
  }
  const replayed = fed.flatMap((share) => pendingIn(share).map(() => share.signal));
  const counted = replayed.toSorted().slice(0, Math.max(0, replayed.length - pending));
  for (const signal of counted)
    if (signal === "logs") accounting.records.joined--;
    else accounting.duplicates--;
}
