// Accept: one export, from its head to its acknowledgement, regardless of the transport (HTTP, gRPC).
// Invariants:
//   - An export is accepted only after `intake` has accepted its items; in durable mode they are on disk by then.
//   - A defect of the collector is a transient refusal: senders retry it, and keep their items.
//   - Redaction comes before every other step that reads the body.
//   - The body of a signal that is not stored is read within the same limits, and not decoded. One that is forwarded is
//     a whole message. One whose bytes count for a quota is decompressed, so that all signals count alike.
//   - A request of a key over its limits is refused whole: before its body is read, or when its items are counted.
import type { Readable } from "node:stream";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { KeyLimits } from "../limit/key-limits.ts";
import type { Amount, OverLimit } from "../limit/key-usage.ts";
import { DecodeError, type Decoded, countItems, type Signal } from "../otlp/decoded.ts";
import type { Refusal, RefusalKind } from "../otlp/status.ts";
import type { Redactor } from "../redact/redact.ts";
import { freeBuffer } from "../shared/free-buffer.ts";
import type { Tenant } from "../shared/tenants.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import { checkWhole, decode, TooLargeError } from "./decode-body.ts";
import type { Admission, Passage } from "./memory-admission.ts";
import { type ProgressWatch, readBody } from "./read-body.ts";
import { plainBody, type Received, redactedBody } from "./redact-body.ts";
import type { RequestHead } from "./request-head.ts";
import type { SharedTurn } from "./shared-turn.ts";
import { isStored, type OtlpSignal } from "./signals.ts";

export interface ReceivedRequest {
  readonly head: RequestHead;
  readonly context: RequestContext;
  /** The received bytes, compressed as `head.encoding` declares. */
  readonly wire: Buffer;
  readonly signal: Signal;
  readonly items: Decoded;
}

export type Intake = (request: ReceivedRequest) => Promise<"taken" | "no_room" | "unwritable">;

/** The way to further receivers (forward/). */
export interface Forwarding {
  readonly wants: (signal: string) => boolean;
  /** Resolves when the request is in the queue of the destinations, in durable mode on disk. */
  readonly add: (request: ForwardedRequest) => Promise<void>;
}

export interface ForwardedRequest extends Pick<RequestHead, "encoding" | "format" | "project" | "tenantId"> {
  readonly signal: "traces" | "logs" | "metrics";
  readonly wire: Buffer;
}

export interface AcceptLimits {
  readonly bodyBytesMax: number;
  readonly decompressedBytesMax: number;
}

export interface AcceptPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly admission: Admission;
  readonly tenants: (apiKey: string, tenantId: string) => Tenant;
  readonly intake: Intake;
  /** null: no destination. */
  readonly forwarder: Forwarding | null;
  /** null: no key has limits. */
  readonly limits: KeyLimits | null;
  /** null: no rule redacts. */
  readonly redactor: Redactor | null;
  /** null: ready. Otherwise the reason. */
  readonly notReady: () => string | null;
  readonly onNotStored: (signal: OtlpSignal) => void;
}

export interface Accepting {
  readonly limits: AcceptLimits;
  readonly ports: AcceptPorts;
  readonly watch: ProgressWatch;
  readonly turn: SharedTurn;
}

export interface ExportCall {
  readonly signal: OtlpSignal;
  readonly head: RequestHead;
  readonly stream: Readable;
  /**
   * The message in the bytes of the stream, and its head. Without it, these bytes are the message. @throws
   * {DecodeError}
   */
  readonly unframe?: (bytes: Buffer, head: RequestHead) => FramedMessage;
}

export interface FramedMessage {
  readonly wire: Buffer;
  readonly head: RequestHead;
}

/** The items of an accepted request that are not stored. */
export type Rejections = Pick<Decoded, "rejected" | "reason">;

export type Verdict =
  /** `rejections` null: the signal is not stored. */
  | { readonly kind: "accepted"; readonly rejections: Rejections | null }
  | ({ readonly kind: "refused" } & Refusal)
  /** The sender disconnected: no reply is possible. */
  | { readonly kind: "gone" };

export async function accept(accepting: Accepting, call: ExportCall): Promise<Verdict> {
  const { ports } = accepting;
  const { head } = call;
  const tenant = ports.tenants(head.apiKey, head.tenantId);
  const passage = ports.admission.enter(tenant.id);
  try {
    return await takeIn(accepting, call, { tenant, passage });
  } catch (error) {
    if (error instanceof DecodeError) return refused("undecodable", error.message);
    if (error instanceof TooLargeError) return refused(error.kind, error.message);
    ports.log.error("request_failed", {
      reason: error instanceof Error ? (error.stack ?? error.message) : "unknown",
    });
    return refused("no_room", "the collector failed on this request");
  } finally {
    passage.leave();
  }
}

interface Admitted {
  readonly tenant: Tenant;
  readonly passage: Passage;
}

async function takeIn(accepting: Accepting, call: ExportCall, { tenant, passage }: Admitted): Promise<Verdict> {
  const { limits, ports, turn, watch } = accepting;
  const { signal, stream } = call;
  const why = ports.notReady();
  if (why !== null) return refused("stopping", why);
  const over = ports.limits?.check(tenant) ?? null;
  if (over !== null) return refusedBy(over);
  const { contentLength } = call.head;
  const read = await readBody(stream, { bytesMax: limits.bodyBytesMax, contentLength, grow: passage.grow }, watch);
  if (read.kind === "gone") return GONE;
  if (read.kind === "too_slow") return refused("too_slow", "the body came too slowly");
  if (read.kind !== "read") throw new TooLargeError(read.kind);
  const released = turn.join(read.body.length);
  if (released !== null) await released;
  const isForwarded = ports.forwarder !== null && signal !== "profiles" && ports.forwarder.wants(signal);
  if (!isStored(signal) && !isForwarded) {
    const bytes = ports.limits === null ? 0 : await bytesToCount(accepting, call, { tenant, passage, body: read.body });
    const beyond = ports.limits?.take(tenant, { items: 1, bytes }) ?? null;
    if (beyond !== null) return refusedBy(beyond);
    freeBuffer(read.body);
    ports.onNotStored(signal);
    return { kind: "accepted", rejections: null };
  }
  const framed = call.unframe === undefined ? { head: call.head, wire: read.body } : call.unframe(read.body, call.head);
  // No await where nothing waits: a small request has little else to do.
  const step = plainBody(framed, limits.decompressedBytesMax, passage);
  const plain = step instanceof Promise ? await step : step;
  const { redactor } = ports;
  const kept = redactor === null ? plain : await redactedBody(redactor, plain, { signal, passage });
  const amount = { items: 1, bytes: kept.body.length };
  let items: Decoded | null = null;
  if (isStored(signal)) {
    const stored = await store(ports, { ...kept, framed: framed.wire, signal, tenant });
    if ("kind" in stored) return stored;
    items = stored;
  } else {
    checkWhole(kept.body, call.head.format);
    const beyond = ports.limits?.take(tenant, amount) ?? null;
    if (beyond !== null) return refusedBy(beyond);
    ports.onNotStored(signal);
  }
  if (isForwarded && !(await forwarded(ports, kept, signal))) {
    if (items === null) ports.limits?.refund(tenant, amount);
    return refused("spool_unwritable", "the queue of the destinations cannot be written");
  }
  freeBuffer(read.body);
  return { kind: "accepted", rejections: items };
}

/** @throws {DecodeError | TooLargeError} */
async function bytesToCount(
  accepting: Accepting,
  { head, unframe }: ExportCall,
  { body, passage, tenant }: Admitted & { readonly body: Buffer },
): Promise<number> {
  if (accepting.ports.limits?.hasQuotaOfBytes(tenant) !== true) return 0;
  const framed = unframe === undefined ? { head, wire: body } : unframe(body, head);
  const plain = await plainBody(framed, accepting.limits.decompressedBytesMax, passage);
  const { length } = plain.body;
  if (plain.body !== plain.wire) freeBuffer(plain.body);
  return length;
}

interface ToStore extends Received, Pick<Admitted, "tenant"> {
  /** The message as it came, which its caller frees. */
  readonly framed: Buffer;
  readonly signal: Signal;
}

/** @throws {DecodeError | TooLargeError} */
async function store(
  ports: AcceptPorts,
  { body, framed, head, signal, tenant, wire }: ToStore,
): Promise<Decoded | Verdict> {
  const context: RequestContext = { tenant, project: head.project, receivedMs: ports.clock.now() };
  const bytes = body.length;
  const step = decode(body, head.format, signal);
  const items = step instanceof Promise ? await step : step;
  if (body !== framed && body !== wire) freeBuffer(body); // the items hold copies only
  const amount: Amount = { items: countItems(items), bytes };
  const over = ports.limits?.take(tenant, amount) ?? null;
  if (over !== null) return refusedBy(over);
  const intakeResult = await ports.intake({ head, context, signal, wire, items });
  if (intakeResult === "taken") return items;
  ports.limits?.refund(tenant, amount);
  if (intakeResult === "no_room") throw new TooLargeError("no_room");
  return refused("spool_unwritable", "the spool cannot be written");
}

/** False when the request cannot be written. */
async function forwarded({ forwarder }: AcceptPorts, { head, wire }: Received, signal: OtlpSignal): Promise<boolean> {
  if (signal === "profiles") return true;
  try {
    const { encoding, format, project, tenantId } = head;
    await forwarder?.add({ signal, format, encoding, project, tenantId, wire });
    return true;
  } catch {
    return false; // the sender repeats it; the store has logged the reason
  }
}

const GONE: Verdict = { kind: "gone" };

function refused(refusal: RefusalKind, message: string): Verdict {
  return { kind: "refused", refusal, message };
}

function refusedBy({ reason, retryAfterSeconds }: OverLimit): Verdict {
  const message = `the key of this request is over its limit ${reason}`;
  return { kind: "refused", refusal: "over_limit", message, retryAfterSeconds };
}
