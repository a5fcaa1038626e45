// Destination: sends the requests of a forward queue to one OTLP receiver, one after the other.
// Invariants:
//   - The cursor moves only over requests that the receiver has taken, refused for good, or that are no longer
//     readable. The last two are counted.
//   destination.2. After `retriesMax` retries the circuit opens; a pause doubles up to 5 minutes.
//   - A refused joint request is sent again in its parts: one bad request takes no other with it.
//   - Items that the receiver rejects in a request it takes are counted and logged, and never sent again.
//   - A stop waits for the reply in flight, at most LAST_REPLY_MS and not past its deadline: what the receiver has
//     taken is not sent again.
import { backoffMs } from "@holdpoint/base/backoff.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../upload/circuit-breaker.ts";
import type { ForwardQueue } from "./forward-queue.ts";
import type { ForwardRequest } from "./forward-request.ts";
import type { PartialSuccess } from "./partial-success.ts";
import { isJoinable, type SendRequests } from "./send-request.ts";

export interface DestinationOptions {
  readonly name: string;
  readonly signals: readonly string[];
  readonly retriesMax: number;
  readonly retryBackoffMs: number;
  readonly retryCooldownMs: number;
}

export interface DestinationPorts {
  readonly queue: Pick<ForwardQueue, "next" | "pass">;
  readonly send: SendRequests;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Requests by their outcome, and items that were rejected in sent ones. */
export interface ForwardCounts {
  sent: number;
  refused: number;
  unreadable: number;
  rejectedItems: number;
}

export interface DestinationLoop {
  readonly counts: Readonly<ForwardCounts>;
  readonly isOpen: () => boolean;
  /** There may be new requests. */
  readonly wake: () => void;
  /** Resolves when the destination has passed all requests. */
  readonly idle: () => Promise<void>;
  /** Ends the loop, after the reply in flight. */
  readonly stop: (deadline: AbortSignal) => Promise<void>;
}

interface Loaded {
  readonly number: number;
  readonly request: ForwardRequest;
}

const JOINED_BYTES_MAX = 512 * 1024;
const BACKOFF_MS_MAX = 30_000;

/** The state of one destination. */
interface Loop {
  readonly options: DestinationOptions;
  readonly ports: DestinationPorts;
  readonly counts: ForwardCounts;
  readonly circuit: CircuitBreaker;
  /** No attempt starts any more. */
  readonly end: AbortController;
  /** The one in flight is cut off. */
  readonly cut: AbortController;
  wake: () => void;
  endPause: () => void;
  /** Waiting callers of idle(). */
  idlers: (() => void)[];
}

export function startDestination(options: DestinationOptions, ports: DestinationPorts): DestinationLoop {
  const { name } = options;
  const { clock, log } = ports;
  const circuit = createCircuitBreaker(options.retryCooldownMs, {
    clock,
    onChange(reason, pauseMs) {
      if (reason === null) log.info("forward_resumed", { destination: name });
      else log.warning("forward_paused", { destination: name, reason, pause_ms: Math.round(pauseMs) });
    },
    onProbe: () => loop.wake(),
  });
  const counts: ForwardCounts = { sent: 0, refused: 0, unreadable: 0, rejectedItems: 0 };
  const [end, cut] = [new AbortController(), new AbortController()];
  const loop: Loop = { options, ports, counts, circuit, end, cut, wake: NOTHING, endPause: NOTHING, idlers: [] };
  const running = run(loop).catch((error: unknown) => {
    log.error("forward_ended", { destination: name, reason: error instanceof Error ? error.message : "unknown" });
  });
  return {
    counts,
    isOpen: circuit.isOpen,
    wake: () => loop.wake(),
    idle: () =>
      new Promise((resolve) => {
        loop.idlers.push(resolve);
        loop.wake();
      }),
    async stop(deadline) {
      end.abort();
      circuit.endPause();
      loop.endPause();
      loop.wake();
      const cutOff = (): void => cut.abort();
      const cancel = clock.after(LAST_REPLY_MS, cutOff);
      if (deadline.aborted) cutOff();
      deadline.addEventListener("abort", cutOff, { once: true });
      await running;
      cancel();
      deadline.removeEventListener("abort", cutOff);
    },
  };
}

const LAST_REPLY_MS = 2000;
const NOTHING = (): void => undefined;

async function run(loop: Loop): Promise<void> {
  while (!loop.end.signal.aborted) {
    const news = woken(loop);
    if (await step(loop)) continue;
    loop.idlers.forEach((resolve) => resolve());
    loop.idlers = [];
    await news;
  }
}

/** Resolves at the next wake. */
function woken(loop: Loop): Promise<void> {
  return new Promise((resolve) => (loop.wake = resolve));
}

function pause(loop: Loop, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = loop.ports.clock.after(ms, resolve);
    loop.endPause = () => {
      cancel();
      resolve();
    };
  });
}

/** Sends the waiting requests of the destination. Returns false when there are none. */
async function step(loop: Loop): Promise<boolean> {
  const { name, signals } = loop.options;
  const { queue } = loop.ports;
  const waiting = queue.next(name, JOINED_BYTES_MAX);
  const joined: Loaded[] = [];
  for (const { number, stored } of waiting) {
    const isWanted = signals.includes(stored.signal);
    const request = isWanted ? await stored.load() : null;
    const [first] = joined;
    if (request !== null && (first === undefined || isJoinable(first.request, request))) {
      joined.push({ number, request });
      continue;
    }
    if (first !== undefined) break;
    if (isWanted) loop.counts.unreadable++;
    queue.pass(name, number);
  }
  if (joined.length > 0) await deliver(loop, joined);
  return waiting.length > 0;
}

/** Returns false when the destination ends. */
async function deliver(loop: Loop, requests: readonly Loaded[]): Promise<boolean> {
  const { name } = loop.options;
  const outcome = await sendAgain(
    loop,
    requests.map(({ request }) => request),
  );
  if (outcome === null) return false;
  if (outcome === "refused" && requests.length > 1) {
    for (const one of requests) if (!(await deliver(loop, [one]))) return false;
    return true;
  }
  if (outcome === "refused") {
    loop.counts.refused++;
    loop.ports.log.warning("forward_refused", { destination: name });
  }
  loop.ports.queue.pass(name, requests.at(-1)?.number ?? 0);
  return true;
}

/** Sends until the outcome is final; null when the destination ends. */
async function sendAgain(loop: Loop, requests: readonly ForwardRequest[]): Promise<"sent" | "refused" | null> {
  const { circuit, cut, end, options, ports } = loop;
  for (let attempt = 1; !end.signal.aborted; attempt++) {
    const outcome = await ports.send(requests, cut.signal);
    if (end.signal.aborted && outcome.kind !== "sent") return null;
    if (outcome.kind === "sent" || outcome.kind === "refused" || outcome.kind === "too_large") {
      circuit.close();
      if (outcome.kind !== "sent") return "refused";
      loop.counts.sent += outcome.requests;
      if (outcome.partial !== null) noteRejected(loop, outcome.partial);
      return "sent";
    }
    const afterMs = outcome.kind === "retry" ? outcome.afterMs : null;
    circuit.noteFailure();
    if (attempt <= options.retriesMax && outcome.kind === "retry") {
      const backoff = { baseMs: options.retryBackoffMs, maxMs: BACKOFF_MS_MAX, random: ports.random };
      await pause(loop, backoffMs(attempt, backoff, afterMs));
      continue;
    }
    circuit.open(outcome.reason, afterMs); // destination.2
    while (circuit.isOpen() && !end.signal.aborted) await woken(loop);
  }
  return null;
}

function noteRejected({ counts, options, ports }: Loop, { message, rejected }: PartialSuccess): void {
  counts.rejectedItems += rejected;
  ports.log.warning("forward_partial_success", { destination: options.name, rejected, message });
}
