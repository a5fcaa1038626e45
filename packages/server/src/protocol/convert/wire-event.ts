// Wire event: an event as readers of the protocol get it, with the values that select its readers.
import type { ProtocolMethod } from "../../model/protocol-lines.ts";
import { nameChannel, type Namespace } from "./channel.ts";

/** Why a reader may not get an event although its filter matches. */
export type Gate =
  | { readonly kind: "none" }
  /** Begin or end of a run: not replayed once the run has ended and a newer one was accepted. */
  | { readonly kind: "run"; readonly runId: string }
  /** A request is shown while the question is open; `runId` is the run whose end made it. */
  | { readonly kind: "question"; readonly interruptId: string; readonly runId: string }
  /** Not replayed while one of these questions is open again: a client would hide it. */
  | { readonly kind: "closed"; readonly interruptIds: readonly string[] };

export const NO_GATE: Gate = { kind: "none" };

export interface WireEvent {
  readonly seq: number;
  readonly id: string;
  readonly method: ProtocolMethod;
  readonly channel: string;
  readonly namespace: Namespace;
  readonly gate: Gate;
  /** The whole event as JSON text. */
  readonly text: string;
}

export interface EventParts {
  readonly seq: number;
  readonly id: string;
  readonly method: ProtocolMethod;
  readonly namespace: Namespace;
  readonly timestamp: number;
  readonly node?: string;
  readonly gate?: Gate;
}

/** @param data JSON text @param channel of `custom` events with a name */
export function wireEvent(
  parts: EventParts,
  data: string,
  channel: string = nameChannel(parts.method, null),
): WireEvent {
  const { namespace, timestamp, node } = parts;
  const named = node === undefined ? "" : `"node":${JSON.stringify(node)},`;
  const params = `{"namespace":${JSON.stringify(namespace)},"timestamp":${timestamp},${named}"data":${data}}`;
  return withParams(parts, params, channel);
}

/** @param params JSON text of namespace, timestamp and data */
export function withParams(
  { seq, id, method, namespace, gate = NO_GATE }: EventParts,
  params: string,
  channel: string,
): WireEvent {
  const text = `{"type":"event","event_id":${JSON.stringify(id)},"seq":${seq},"method":"${method}","params":${params}}`;
  return { seq, id, method, channel, namespace, gate, text };
}
