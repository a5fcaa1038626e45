// Notices: messages between the processes of a server, over LISTEN and NOTIFY on a separate connection.
// The pieces:
//   notice-sender.ts      lines for the other processes
//   notice-connection.ts  the listening connection, and its replacement
//   notices.ts            the lines of the other processes, and the ports over them
// Invariants:
//   notices.1. A notice is a hint to read the database. It follows the commit it refers to, and one statement carries
//        many: NOTIFY inside transactions would serialize their commits.
//   notices.2. A process publishes the runs and threads its readers follow; others wake it for those only. It repeats
//        this list, and entries without a repetition expire.
//        A wake shortly before such a list arrives is sent when it arrives: its reader may have read before the commit.
//   - A lost connection is replaced; listeners then get a signal that notices may be missing.
//   - Bounded: beyond PENDING_MAX unsent notices are dropped, and the next one sent counts as a gap for all processes.
//   notices.5. Notices for waiting callers go to API processes only: for a worker they would be useless wake-ups, and
//        there may be many workers.
import { randomUUID } from "node:crypto";
import type { Notification } from "pg";
import type { Notice, Peers, Wakes } from "../../../ports/ports.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { settlesWithin, type Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createLocalWakes } from "../../local/wakes.ts";
import type { DatabaseAddress } from "../client/address.ts";
import { CLOSE_MS } from "../client/pool.ts";
import { type NoticeConnection, connectNotices } from "./notice-connection.ts";
import { MISSED, type NoticeSender, QUEUED, sendLine, sendPending } from "./notice-sender.ts";

export interface Notices extends Service {
  readonly wakes: Wakes;
  readonly peers: Peers;
  /** Tells the other workers that a run waits in the queue. */
  readonly notifyQueued: () => void;
  /** Calls back when another process says so, or may have; in workers only. */
  readonly onQueued: (callback: () => void) => void;
}

const REPEAT_MS = 15_000;
const FORGET_MS = 50_000;

/** Longer than a list of readers takes to arrive, with one repetition. */
const RECENT_MS = 30_000;
const RECENT_MAX = 4096;

interface NoticesState {
  readonly sender: NoticeSender;
  readonly clock: Clock;
  readonly local: Wakes;
  /** Keys with readers elsewhere: expiry by process. */
  readonly remote: Map<string, Map<string, number>>;
  /** Keys that were woken of late, and when: the oldest first. */
  readonly recent: Map<string, number>;
  /** Keys with readers here, and their number. */
  readonly listened: Map<string, number>;
  readonly listeners: { readonly onNotice: (notice: Notice) => void; readonly onMissed: () => void }[];
  readonly interested: ((key: string) => void)[];
  readonly onQueued: (() => void)[];
  stopRepeating: () => void;
}

export interface NoticePorts extends DatabaseAddress {
  readonly servesCalls: boolean;
  readonly isWorker: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export function createNotices(ports: NoticePorts): Notices {
  const self = randomUUID().slice(0, 8);
  const sender: NoticeSender = { self, client: null, pending: new Set(), sending: null, stopped: false };
  const state: NoticesState = {
    sender,
    clock: ports.clock,
    local: createLocalWakes(),
    remote: new Map(),
    recent: new Map(),
    listened: new Map(),
    listeners: [],
    interested: [],
    onQueued: [],
    stopRepeating: () => undefined,
  };
  const connection: NoticeConnection = {
    ...ports,
    sender,
    onNotification: (notification) => takeNotification(state, notification),
    onConnected: (again) => announceAll(state, again),
    failures: 0,
  };
  return {
    name: "notices",
    async start() {
      await connectNotices(connection);
      state.stopRepeating = ports.clock.after(REPEAT_MS, () => repeat(state));
    },
    async stop() {
      // other tasks may wait for the last of it
      if (sender.client !== null && sender.sending !== null) await settlesWithin(sender.sending, CLOSE_MS);
      sender.stopped = true;
      state.stopRepeating();
      if (sender.client !== null) await settlesWithin(sender.client.end(), CLOSE_MS);
    },
    wakes: wakesOver(state),
    peers: peersOver(state),
    notifyQueued: () => sendLine(sender, QUEUED),
    onQueued: (callback) => void state.onQueued.push(callback),
  };
}

function takeNotification(state: NoticesState, { payload = "" }: Notification): void {
  const [from = "", ...lines] = payload.split("\n");
  if (from === state.sender.self) return;
  for (const line of lines) takeLine(state, from, line);
}

function takeLine(state: NoticesState, from: string, line: string): void {
  const [kind = "", a = "", b = ""] = line.split(" ");
  if (kind === "wake") state.local.wake(a);
  else if (kind === "+") noteReader(state, from, a);
  else if (kind === "-") {
    state.remote.get(a)?.delete(from);
    if (state.remote.get(a)?.size === 0) state.remote.delete(a);
  } else if (kind === MISSED) reportGap(state);
  else if (kind === QUEUED) for (const callback of state.onQueued) callback();
  else if (kind === "abort") publish(state, { kind, runId: a, reason: b as "cancel" });
  else if (kind === "ended") publish(state, { kind, runId: a, threadId: b });
  else if (kind === "gone") publish(state, { kind, runId: a });
  else if (kind === "inbox") publish(state, { kind });
}

function noteReader({ sender, remote, recent, clock, interested }: NoticesState, process: string, key: string): void {
  const now = clock.monotonic();
  const until = now + FORGET_MS;
  const known = remote.get(key);
  const isNew = known?.has(process) !== true;
  if (isNew && now - (recent.get(key) ?? -Infinity) < RECENT_MS) sendLine(sender, `wake ${key}`); // notices.2
  if (known === undefined) remote.set(key, new Map([[process, until]]));
  else known.set(process, until);
  for (const callback of interested) callback(key);
}

function publish({ listeners }: NoticesState, notice: Notice): void {
  for (const { onNotice } of listeners) onNotice(notice);
}

function reportGap({ listeners, onQueued }: NoticesState): void {
  for (const callback of onQueued) callback();
  for (const { onMissed } of listeners) onMissed();
}

/** On a new connection. */
function announceAll(state: NoticesState, again: boolean): void {
  for (const key of state.listened.keys()) sendLine(state.sender, `+ ${key}`);
  sendPending(state.sender);
  if (again) reportGap(state);
}

/** notices.2. */
function repeat(state: NoticesState): void {
  const { sender, clock, remote, listened } = state;
  for (const key of listened.keys()) sendLine(sender, `+ ${key}`);
  const now = clock.monotonic();
  for (const [key, by] of remote) {
    for (const [process, until] of by) if (until < now) by.delete(process);
    if (by.size === 0) remote.delete(key);
  }
  if (!sender.stopped) state.stopRepeating = clock.after(REPEAT_MS, () => repeat(state));
}

function noteWake({ recent, clock }: NoticesState, key: string): void {
  recent.delete(key);
  recent.set(key, clock.monotonic());
  if (recent.size <= RECENT_MAX) return;
  for (const oldest of recent.keys()) {
    recent.delete(oldest);
    return;
  }
}

function wakesOver(state: NoticesState): Wakes {
  const { sender, local, remote, listened } = state;
  return {
    wake(key) {
      local.wake(key);
      noteWake(state, key);
      if (remote.has(key)) sendLine(sender, `wake ${key}`);
    },
    listen(key, woken) {
      const count = listened.get(key) ?? 0;
      listened.set(key, count + 1);
      if (count === 0) sendLine(sender, `+ ${key}`);
      const stop = local.listen(key, woken);
      return () => {
        stop();
        const left = (listened.get(key) ?? 1) - 1;
        if (left > 0) listened.set(key, left);
        else if (listened.delete(key)) sendLine(sender, `- ${key}`);
      };
    },
    listeners: (key) => local.listeners(key),
    hasRemoteListeners: (key) => remote.has(key),
    onRemoteListener: (callback) => void state.interested.push(callback),
  };
}

function peersOver({ sender, remote, listeners }: NoticesState): Peers {
  return {
    alone: false,
    notify(notice) {
      if (notice.kind === "inbox") {
        if (remote.has("inbox")) sendLine(sender, "inbox");
      } else if (notice.kind === "abort") sendLine(sender, `abort ${notice.runId} ${notice.reason}`);
      else if (notice.kind === "gone") sendLine(sender, `gone ${notice.runId}`);
      else if (notice.expected || remote.has(notice.runId))
        sendLine(sender, `ended ${notice.runId} ${notice.threadId}`);
    },
    listen: (onNotice, onMissed) => void listeners.push({ onNotice, onMissed }),
  };
}
