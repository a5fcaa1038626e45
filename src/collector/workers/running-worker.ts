// Running workers: the workers of a process, and the shares of a request on their way to them.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { Decision } from "../assemble/assemble.ts";
import { isSessionTrace } from "../logs/session-span.ts";
import { ownerOfHex } from "../otlp/split/owner.ts";
import type { Share } from "../otlp/split/rules.ts";
import { split } from "../otlp/split/split.ts";
import type { BodyOf } from "../receive/read-items.ts";
import type { Spool } from "../spool/port.ts";
import type { LinkPorts } from "./link-state.ts";
import type { WorkerSetup } from "./messages.ts";
import { newShare, type OpenShare } from "./open-share.ts";
import type { StartThread, Thread } from "./thread.ts";
import type { WorkerLink } from "./worker-link.ts";

export interface WorkersPorts extends Omit<LinkPorts, "onRoom" | "spool"> {
  readonly clock: Clock;
  readonly random: () => number;
  readonly startThread: StartThread;
  /** null in memory mode. */
  readonly spool: Pick<Spool, "requestDone" | "readRequest" | "decisions"> | null;
}

export interface RunningWorker {
  readonly number: number;
  readonly link: WorkerLink;
  thread: Thread | null;
  starts: number;
  startedMs: number;
  replays: OpenShare[];
  cancelRestart: () => void;
}

export interface Workers {
  readonly all: readonly RunningWorker[];
  readonly ports: WorkersPorts;
  readonly setup: Omit<WorkerSetup, "limits">;
  shareCount: number;
  restarts: number;
  stopping: boolean;
}

/** Events of agents without spans are at the worker of their tenant (split.2). */
export function ownerOfDecision({ tenant, traceId }: Decision, count: number): number {
  return ownerOfHex(isSessionTrace(traceId, tenant) ? tenant : traceId, count);
}

export async function splitBody({ all }: Workers, body: Buffer, { context, format, signal }: BodyOf): Promise<Share[]> {
  const tenantOwner = ownerOfHex(context.tenant.id, all.length);
  const splitting = split(body, format, { signal, workers: all.length, tenantOwner });
  for (;;) {
    const step = splitting.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** A share with its worker. */
export interface Placed {
  readonly share: OpenShare;
  readonly link: WorkerLink;
}

export function openShare(workers: Workers, one: Share, of: BodyOf, earlier: OpenShare | null = null): Placed {
  const { bytes, indexes, worker } = one;
  const { context, format, signal } = of;
  const { link } = workers.all[worker] ?? fail(worker);
  const { apiKey, id, tenantId } = context.tenant;
  const share = newShare(++workers.shareCount, { signal, tenantId: id, bytes: bytes.length, indexes }, earlier);
  const { project, receivedMs } = context;
  const tenant = { apiKey, tenantId };
  link.read(share, { kind: "read", share: share.id, bytes, format, signal, tenant, project, receivedMs });
  return { share, link };
}

function fail(worker: number): never {
  throw new Error(`there is no worker ${worker}`);
}
