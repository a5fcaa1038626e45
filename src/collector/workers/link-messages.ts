// Link messages: how the receiving thread handles each message of a worker.
import type { Body } from "../encode/batch-body.ts";
import { DecodeError } from "../otlp/decoded.ts";
import type { SpanOrigin } from "../shared/span-origin.ts";
import { addChanges, itemsIn } from "./count-changes.ts";
import { leave, type LinkState, closeShare, moveBytes, track } from "./link-state.ts";
import type { BodyMessage, FlatOrigins, FromWorker } from "./messages.ts";
import { pendingIn } from "./open-share.ts";

export function takeMessage(link: LinkState, message: FromWorker): void {
  switch (message.kind) {
    case "read":
      return onRead(link, message);
    case "unreadable":
      return onUnreadable(link, message);
    case "fed":
      return onFed(link, message.share);
    case "batch":
    case "misplaced":
      return onRuns(link, message);
    case "done":
      for (const { request, index } of leave(link, message.share, message.indexes))
        link.ports.spool?.requestDone(request, [index]);
      return;
    case "counted":
      addChanges(link.ports.accounting, message.changes);
      link.pending -= itemsIn(message.changes);
      return;
    case "held":
      return onHeld(link, message);
    case "log":
      return link.ports.log[message.level](message.event, { ...message.fields, worker: link.number });
    case "flushed":
      link.flushes.shift()?.resolve();
      return;
    case "ready":
      return;
  }
}

type Message<Kind extends FromWorker["kind"]> = Extract<FromWorker, { kind: Kind }>;

function onRead(link: LinkState, message: Message<"read">): void {
  const share = link.shares.get(message.share);
  if (share === undefined) return;
  share.state = "read";
  share.reading.resolve(message);
}

function onUnreadable(link: LinkState, { isFault, message, share: id }: Message<"unreadable">): void {
  const share = link.shares.get(id);
  if (share === undefined) return;
  closeShare(link, share);
  share.reading.reject(isFault ? new Error(message) : new DecodeError(message));
}

function onFed(link: LinkState, id: number): void {
  const share = link.shares.get(id);
  if (share === undefined) return;
  moveBytes(link, share, -1);
  share.state = "fed";
  share.feeding.resolve();
  if (pendingIn(share).length === 0) link.shares.delete(id);
  link.ports.onRoom();
}

function onRuns(link: LinkState, message: Message<"batch" | "misplaced">): void {
  const { delivery } = link.ports;
  const body = bodyOf(link, message.body);
  const runs = body.offsets.length;
  link.pending -= runs;
  if (message.kind === "misplaced")
    return track(link, delivery.reject({ body, reason: message.reason, origins: originsOf(link, message.origins) }));
  const origins = message.origins.map((flat) => originsOf(link, flat));
  track(link, delivery.deliver({ body, places: { runs, text: message.places }, origins }));
}

function bodyOf({ ports }: LinkState, { tenant, bytes, ...rest }: BodyMessage): Body {
  const owned = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { ...rest, tenant: ports.tenants.of(tenant.apiKey, tenant.tenantId), bytes: owned, first: 0 };
}

function originsOf(link: LinkState, flat: FlatOrigins): SpanOrigin[] {
  const origins: SpanOrigin[] = [];
  for (let at = 0; at < flat.length; at += 2) origins.push(...leave(link, flat[at] ?? 0, [flat[at + 1] ?? 0]));
  return origins;
}

function onHeld(link: LinkState, { byTenant, bytes, stats }: Message<"held">): void {
  link.heldBytes = bytes;
  link.stats = stats;
  for (const [id, own] of byTenant)
    if (own === 0) link.heldOf.delete(id);
    else link.heldOf.set(id, own);
}
