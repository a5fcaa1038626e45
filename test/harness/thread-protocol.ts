// The thread protocol as a plain client speaks it: commands over HTTP, events as server-sent events.
import { createParser } from "eventsource-parser";
import { createArrivals } from "./arrivals.ts";
import type { ServerHere } from "./server-here.ts";

type Served = Pick<ServerHere, "url">;

export interface ProtocolEvent {
  readonly id: string;
  readonly seq: number;
  readonly method: string;
  readonly namespace: readonly string[];
  readonly timestamp: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WireReply {
  readonly type: string;
  readonly result: Readonly<Record<string, unknown>>;
  readonly error?: string;
  readonly meta: { readonly applied_through_seq: number };
  readonly [name: string]: unknown;
}

let commands = 0;

export async function sendCommand(
  server: Served,
  threadId: string,
  method: string,
  params: object,
): Promise<WireReply> {
  const response = await fetch(`${server.url}/threads/${threadId}/commands`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: ++commands, method, params }),
  });
  return (await response.json()) as WireReply;
}

export interface EventReader {
  /** The events since the last call, up to the first that fits. */
  until(fits: (event: ProtocolEvent) => boolean): Promise<readonly ProtocolEvent[]>;
  close(): void;
}

export function parseEvent(text: string): ProtocolEvent {
  const {
    event_id: id,
    seq,
    method,
    params,
  } = JSON.parse(text) as {
    readonly event_id: string;
    readonly seq: number;
    readonly method: string;
    readonly params: Pick<ProtocolEvent, "namespace" | "timestamp" | "data">;
  };
  const { namespace, timestamp, data } = params;
  return { id, seq, method, namespace, timestamp, data };
}

/** A handle of `client.threads.stream()`. */
interface ClientStream<Q> {
  readonly interrupts: readonly Q[];
  onEvent(listener: (event: { readonly method: string }) => void): unknown;
}

/** The first question that the official client shows. */
export function whenAsked<Q>(stream: ClientStream<Q>): Promise<Q> {
  const events = createArrivals<string>();
  stream.onEvent(({ method }) => events.add(method));
  return events.when("the question", () => stream.interrupts[0]);
}

export async function openEvents(
  server: Served,
  threadId: string,
  filter: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const controller = new AbortController();
  const response = await fetch(`${server.url}/threads/${threadId}/stream/events`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(filter),
    signal: controller.signal,
  });
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  const arrived: ProtocolEvent[] = [];
  const parser = createParser({ onEvent: ({ data }) => arrived.push(parseEvent(data)) });
  const chunks = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  return {
    async until(fits) {
      for (;;) {
        const at = arrived.findIndex(fits);
        if (at >= 0) return arrived.splice(0, at + 1);
        const { done, value } = await chunks.next();
        if (done === true) throw new Error(`the stream ended after ${JSON.stringify(arrived)}`);
        parser.feed(value);
      }
    },
    close: () => controller.abort(),
  };
}
