// A page: a plain client of the thread protocol that stays attached as the official one does. It connects again after
// each break, without a position, and drops the events that it has seen.
import { createParser } from "eventsource-parser";
import { setTimeout as wait } from "node:timers/promises";
import { parseEvent, type ProtocolEvent } from "../thread-protocol.ts";
import { createArrivals } from "../arrivals.ts";

export interface ThreadPage {
  /** In the order of arrival, each once. */
  readonly seen: readonly ProtocolEvent[];
  /** Successful connections. */
  readonly connects: () => number;
  /** Waits for an event that fits, from this index of `seen` on. @returns its index */
  shows(what: string, fits: (event: ProtocolEvent) => boolean, from?: number): Promise<number>;
  close(): void;
}

const AGAIN_MS = 20;

export const isRoot = ({ method, namespace }: ProtocolEvent): boolean =>
  method === "lifecycle" && namespace.length === 0;
export const isRunning = (event: ProtocolEvent): boolean => isRoot(event) && event.data["event"] === "running";
export const isEnd = (event: ProtocolEvent): boolean => isRoot(event) && event.data["event"] !== "running";
export const isRunEnd =
  (runId: unknown) =>
  (event: ProtocolEvent): boolean =>
    isEnd(event) && event.data["run_id"] === runId;

const open = new Set<AbortController>();

/** Closes what a failed test left open: it would keep the process of the tests alive. */
export function closePages(): void {
  for (const one of open) one.abort();
}

/** @param url asked before each connection: a server that comes back may have another one */
export function openPage(url: () => string, threadId: string, filter: object): ThreadPage {
  const closed = new AbortController();
  open.add(closed);
  const { list: seen, add, when } = createArrivals<ProtocolEvent>();
  const known = new Set<string>();
  let connects = 0;
  const take = (text: string): void => {
    const event = parseEvent(text);
    if (known.has(event.id)) return;
    known.add(event.id);
    add(event);
  };
  const connect = async (): Promise<void> => {
    const response = await fetch(`${url()}/threads/${threadId}/stream/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(filter),
      signal: closed.signal,
    });
    if (response.status !== 200 || response.body === null) return;
    connects++;
    const parser = createParser({ onEvent: ({ data }) => take(data) });
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) parser.feed(text);
  };
  const follow = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      await connect().catch(() => undefined);
      if (!closed.signal.aborted) await wait(AGAIN_MS);
    }
  };
  void follow();
  return {
    seen,
    connects: () => connects,
    shows: (what, fits, from = 0) =>
      when(what, () => {
        const at = seen.findIndex((event, index) => index >= from && fits(event));
        return at < 0 ? undefined : at;
      }),
    close: () => closed.abort(),
  };
}
