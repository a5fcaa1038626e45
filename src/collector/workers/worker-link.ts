// Worker link: one worker thread as the receiving thread sees it.
// Invariants:
//   worker-link.1. While the worker starts or replays, messages for it wait in order.
//   worker-link.2. No input crashes a worker for ever: a share that is in the worker's hands when it crashes gets a
//        blame of 1, a share that it has fed a quarter; at BLAME_MAX its items count as lost.
import { WorkerCrashedError } from "../receive/read-items.ts";
import { takeMessage } from "./link-messages.ts";
import { bookCrash, closeShare, type LinkPorts, type LinkState, moveBytes } from "./link-state.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { doneBits, type OpenShare, pendingIn } from "./open-share.ts";
import { createOutbox, memoryOf } from "./outbox.ts";
import type { Thread } from "./thread.ts";

export interface WorkerLink {
  readonly state: Readonly<LinkState>;
  /** Posts the bytes of a new share. `share.reading` has the result. */
  readonly read: (share: OpenShare, message: Extract<ToWorker, { kind: "read" }>) => void;
  /** Feeds a share that is read. False: its worker has crashed meanwhile, and the share is to be replayed. */
  readonly feed: (share: OpenShare) => boolean;
  readonly discard: (share: OpenShare) => void;
  readonly recall: (message: Extract<ToWorker, { kind: "recall" }>) => void;
  readonly flush: () => Promise<void>;
  readonly attach: (thread: Thread) => void;
  /** Posts the messages of `work` before the waiting ones: the replay. */
  readonly direct: (work: () => void) => void;
  /** Posts the waiting messages, and all later ones at once. */
  readonly open: () => void;
  /** Messages wait again. */
  readonly shut: () => void;
  /** The thread is gone: returns the shares to replay, and books the rest. */
  readonly detach: () => OpenShare[];
  readonly take: (messages: readonly FromWorker[]) => void;
  /** Resolves when the delivery has every batch that the worker has sent so far. */
  readonly delivered: () => Promise<void>;
  readonly heldBytes: () => number;
  readonly heldBytesOf: (tenantId: string) => number;
}

const BLAME_MAX = 3;
const BLAME_OF_FED = 0.25;

export function createWorkerLink(number: number, ports: LinkPorts): WorkerLink {
  let thread: Thread | null = null;
  const outbox = createOutbox<ToWorker>({
    post: (messages, memory) => thread?.post(messages, memory),
    beforePost: () => undefined,
  });
  const link = newState(number, ports, outbox);
  return {
    state: link,
    read: (share, message) => read(link, share, message),
    feed: (share) => feed(link, share),
    discard(share) {
      if (!link.shares.has(share.id)) return;
      closeShare(link, share);
      send(link, { kind: "discard", share: share.id });
    },
    recall: (message) => send(link, message),
    flush() {
      const flush = Promise.withResolvers<void>();
      link.flushes.push(flush);
      send(link, { kind: "flush" });
      return flush.promise;
    },
    attach(started) {
      thread = started;
    },
    direct(work) {
      link.isOpen = true;
      work();
      link.isOpen = false;
    },
    open() {
      link.isOpen = true;
      for (const one of link.waiting.splice(0)) post(link, one.message, one.share, one.memory);
    },
    shut() {
      link.isOpen = false;
    },
    detach() {
      thread = null;
      outbox.flush(); // its messages have no receiver
      return detach(link);
    },
    take: (messages) => messages.forEach((message) => takeMessage(link, message)),
    delivered: () => Promise.allSettled(link.delivering).then(() => undefined),
    heldBytes: () => link.transitBytes + link.heldBytes,
    heldBytesOf: (tenantId) => (link.transitOf.get(tenantId) ?? 0) + (link.heldOf.get(tenantId) ?? 0),
  };
}

function newState(number: number, ports: LinkPorts, outbox: LinkState["outbox"]): LinkState {
  return {
    number,
    ports,
    outbox,
    shares: new Map(),
    heldOf: new Map(),
    transitOf: new Map(),
    delivering: new Set(),
    isOpen: false,
    waiting: [],
    flushes: [],
    limits: ports.backendLimits(),
    transitBytes: 0,
    heldBytes: 0,
    stats: null,
    pending: 0,
  };
}

function send(link: LinkState, message: ToWorker, share: OpenShare | null = null, memory?: ArrayBuffer): void {
  if (link.isOpen) post(link, message, share, memory);
  else link.waiting.push({ message, memory, share }); // worker-link.1
}

function post(link: LinkState, message: ToWorker, share: OpenShare | null, memory: ArrayBuffer | undefined): void {
  if (share !== null) share.state = "sent";
  link.outbox.add(message, memory);
}

function read(link: LinkState, share: OpenShare, message: Extract<ToWorker, { kind: "read" }>): void {
  link.shares.set(share.id, share);
  moveBytes(link, share, 1);
  const limits = link.ports.backendLimits();
  if (limits !== link.limits) {
    link.limits = limits;
    send(link, { kind: "limits", limits });
  }
  send(link, message, share, memoryOf(message.bytes));
}

function feed(link: LinkState, share: OpenShare): boolean {
  const { positions, stored } = share;
  if (share.state === "crashed") {
    if (stored === null) link.ports.accounting.lost.worker_crashed += positions.length;
    return stored === null;
  }
  share.state = "feeding";
  link.pending += stored === null ? positions.length : pendingIn(share).length;
  const request =
    stored === null
      ? null
      : { segment: stored.segment, offset: stored.offset, spans: stored.spans, done: doneBits(share) };
  send(link, { kind: "feed", share: share.id, positions: stored === null ? null : positions, request });
  return true;
}

function detach(link: LinkState): OpenShare[] {
  link.isOpen = false;
  link.heldBytes = 0;
  link.heldOf.clear();
  const open = [...link.shares.values()].filter(({ state }) => state !== "queued");
  bookCrash(
    link,
    open.filter(({ state }) => state === "feeding" || state === "fed"),
  );
  const replays = open.filter((share) => crash(link, share));
  link.waiting = link.waiting.filter(({ message }) => message.kind === "read" || message.kind === "discard");
  for (const flush of link.flushes.splice(0)) flush.resolve();
  return replays;
}

/** Ends the waits for the share. True: it is to be replayed. */
function crash(link: LinkState, share: OpenShare): boolean {
  closeShare(link, share);
  const wasFed = share.state === "fed";
  share.state = "crashed";
  const error = new WorkerCrashedError(link.number);
  for (const wait of [share.reading, share.feeding]) {
    wait.promise.catch(() => undefined);
    wait.reject(error);
  }
  if (share.stored === null) return false;
  share.blame += wasFed ? BLAME_OF_FED : 1;
  const items = pendingIn(share);
  if (share.blame < BLAME_MAX) return items.length > 0;
  link.ports.accounting.lost.worker_crashed += items.length; // worker-link.2
  link.ports.spool?.requestDone(share.stored, items);
  const reason = "their worker crashed on them each time";
  link.ports.log.error("items_lost", { worker: link.number, items: items.length, reason });
  return false;
}
