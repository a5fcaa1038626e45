// Forwarder: sends received requests, after redaction, to further OTLP receivers (receive → redact → forward). The pieces:
//   forward-schema.ts  the destinations as the rules file has them
//   forward-request.ts one received request
//   forward-queue.ts   requests in order, with one cursor per destination
//   forward-store.ts   where these requests are: in memory or on disk
//   destination.ts     one destination: retries, circuit breaker, cursor
//   shape-request.ts   what a destination with rules of its own gets of a request
//   send-request.ts    one HTTP request, or one call of gRPC
//   send-grpc.ts       the call of gRPC
//   partial-success.ts the items that its reply rejects
// Invariants:
//   - In durable mode a request that was acknowledged reaches every destination at least once, across crashes, unless
//     the limit of the queue takes it away, which is counted.
//   - A destination that is slow or away delays neither the others, nor uploads, nor senders.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { FilePort } from "../spool/disk/file-port.ts";
import { type DestinationLoop, type DestinationOptions, startDestination } from "./destination.ts";
import { createForwardQueue, type ForwardQueue } from "./forward-queue.ts";
import type { ForwardRequest } from "./forward-request.ts";
import type { Destination } from "./forward-schema.ts";
import { createMemoryStore, FORWARD_FOLDER, openDiskStore } from "./forward-store.ts";
import { type ConnectionOptions, createSender } from "./send-request.ts";

export interface ForwarderOptions extends Omit<DestinationOptions, "name" | "signals">, ConnectionOptions {
  readonly destinations: readonly Destination[];
  /** null: memory mode. */
  readonly spoolDir: string | null;
  readonly bytesMax: number;
}

export interface ForwarderPorts {
  readonly files: FilePort;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Null without encryption. */
  readonly ring: Keyring | null;
}

export interface DestinationState {
  readonly name: string;
  readonly sent: number;
  readonly refused: number;
  readonly rejectedItems: number;
  readonly lost: number;
  readonly waitingBytes: number;
  readonly waitingRequests: number;
  readonly isPaused: boolean;
}

export interface Forwarder {
  /** Some destination wants this signal. */
  readonly wants: (signal: string) => boolean;
  readonly start: () => Promise<void>;
  /** Rejects when the request cannot be written. */
  readonly add: (request: ForwardRequest) => Promise<void>;
  readonly states: () => readonly DestinationState[];
  /** In memory mode the destinations may finish until the signal. @returns the requests that are lost */
  readonly stop: (signal: AbortSignal) => Promise<number>;
}

export function createForwarder(options: ForwarderOptions, ports: ForwarderPorts): Forwarder {
  const { destinations, spoolDir } = options;
  let queue: ForwardQueue | null = null;
  let loops: readonly (readonly [Destination, DestinationLoop])[] = [];

  async function start(): Promise<void> {
    const store = spoolDir === null ? createMemoryStore() : await openDiskStore(`${spoolDir}/${FORWARD_FOLDER}`, ports);
    const opened = createForwardQueue(
      {
        destinations: destinations.map(({ name }) => name),
        bytesMax: options.bytesMax,
        onChange: () => loops.forEach(([, loop]) => loop.wake()),
      },
      store,
    );
    queue = opened;
    loops = destinations.map((destination) => [
      destination,
      startDestination(
        { ...options, name: destination.name, signals: destination.signals },
        { ...ports, queue: opened, send: createSender(destination, options, ports.clock) },
      ),
    ]);
  }

  return {
    start,
    wants: (signal) => destinations.some(({ signals }) => (signals as readonly string[]).includes(signal)),
    add: (request) => queue?.add(request) ?? Promise.reject(new Error("the forwarder has not started")),
    states: () =>
      loops.map(([{ name }, loop]) => {
        const waiting = queue?.countWaiting(name) ?? { bytes: 0, requests: 0 };
        return {
          name,
          sent: loop.counts.sent,
          refused: loop.counts.refused,
          rejectedItems: loop.counts.rejectedItems,
          lost: loop.counts.unreadable + (queue?.countLost(name) ?? 0),
          waitingBytes: waiting.bytes,
          waitingRequests: waiting.requests,
          isPaused: loop.isOpen(),
        };
      }),
    async stop(signal) {
      if (spoolDir === null) await settled(loops, signal);
      await Promise.all(loops.map(([, loop]) => loop.stop(signal)));
      const waiting = loops.reduce((sum, [{ name }]) => sum + (queue?.countWaiting(name).requests ?? 0), 0);
      await queue?.close();
      return spoolDir === null ? waiting : 0;
    },
  };
}

function settled(loops: readonly (readonly [Destination, DestinationLoop])[], signal: AbortSignal): Promise<unknown> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return Promise.race([aborted, Promise.all(loops.map(([, loop]) => loop.idle()))]);
}
