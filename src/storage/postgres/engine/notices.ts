// Notices: messages between the processes of a server, over LISTEN and NOTIFY on a separate connection.
// Invariants:
//   notices.1. A notice is a hint to read the database. It follows the commit it refers to, and one statement carries
//        many: NOTIFY inside transactions would serialize their commits.
//   notices.2. A process publishes the runs and threads its readers follow; others wake it for those only. It repeats
//        this list, and entries without a repetition expire.
//   notices.3. A lost connection is replaced; listeners then get a signal that notices may be missing.
//   notices.4. Bounded: beyond PENDING_MAX unsent notices are dropped, and the next one sent counts as a gap for all
//        processes.
//   notices.5. Notices for waiting callers go to API processes only: for a worker they would be useless wake-ups, and
//        there may be many workers.
import { randomUUID } from "node:crypto";
import { Client, type Notification } from "pg";
import type { Notice, Peers, Wakes } from "../../../agent/ports/ports.ts";
import type { Clock } from "../../../base/clock.ts";
import { describeError } from "../../../base/api-error.ts";
import { settlesWithin, type Service } from "../../../base/lifecycle.ts";
import type { Log } from "../../../base/log/log.ts";
import { createLocalWakes } from "../../local/wakes.ts";
import { ANSWER_TIMEOUT_MS, CLOSE_MS, connectionConfig } from "../client/pool.ts";

export interface Notices extends Service {
  readonly wakes: Wakes;
  readonly peers: Peers;
}

/** For every process. */
const CHANNEL = "holdpoint";
/** For API processes. */
const CALLS_CHANNEL = "holdpoint_calls";
const FOR_CALLS: ReadonlySet<string> = new Set(["wake", "ended", "gone", "inbox"]);
/** NOTIFY takes less than 8,000 bytes. */
const PAYLOAD_MAX = 7500;
const PENDING_MAX = 10_000;
const RECONNECT_MS = [50, 250, 1000, 2000] as const;
const REPEAT_MS = 15_000;
const FORGET_MS = 50_000;
const MISSED = "missed";

export function createNotices(ports: {
  readonly uri: string;
  readonly servesCalls: boolean;
  readonly clock: Clock;
  readonly log: Log;
}): Notices {
  const { clock, log } = ports;
  const self = randomUUID().slice(0, 8);
  const local = createLocalWakes();
  /** Keys with readers elsewhere: expiry by process. */
  const remote = new Map<string, Map<string, number>>();
  /** Keys with readers here, and their number. */
  const listened = new Map<string, number>();
  const listeners: { readonly told: (notice: Notice) => void; readonly missed: () => void }[] = [];
  const interested: ((key: string) => void)[] = [];
  let pending = new Set<string>();
  let sending: Promise<void> | null = null;
  let client: Client | null = null;
  let stopped = false;
  let failures = 0;
  let stopRepeating: () => void = () => undefined;

  const send = (line: string): void => {
    if (stopped) return;
    if (pending.size >= PENDING_MAX) pending = new Set([MISSED]); // notices.4
    pending.add(line);
    sending ??= new Promise((resolve) => setImmediate(resolve)).then(flush).finally(() => {
      sending = null;
      if (pending.size > 0 && client !== null) send(pending.values().next().value ?? MISSED);
    });
  };
  const flush = async (): Promise<void> => {
    const by = client;
    if (by === null) return; // after the reconnect
    const lines = [...pending];
    pending = new Set();
    try {
      for (const [channel, payload] of payloads(lines)) {
        await by.query({ name: "notify", text: "SELECT pg_notify($1, $2)", values: [channel, `${self}\n${payload}`] });
      }
    } catch {
      pending = new Set([MISSED]);
      by.end().catch(() => undefined); // it may be dead without a signal: notices.3
    }
  };

  const hear = ({ payload = "" }: Notification): void => {
    const [from = "", ...lines] = payload.split("\n");
    if (from === self) return;
    for (const line of lines) hearLine(from, line);
  };
  const hearLine = (from: string, line: string): void => {
    const [kind = "", a = "", b = ""] = line.split(" ");
    if (kind === "wake") local.wake(a);
    else if (kind === "+") {
      const known = remote.get(a);
      if (known === undefined) remote.set(a, new Map([[from, clock.monotonic() + FORGET_MS]]));
      else known.set(from, clock.monotonic() + FORGET_MS);
      for (const tell of interested) tell(a);
    } else if (kind === "-") {
      remote.get(a)?.delete(from);
      if (remote.get(a)?.size === 0) remote.delete(a);
    } else if (kind === MISSED) for (const { missed } of listeners) missed();
    else if (kind === "abort") tell({ kind, runId: a, reason: b as "cancel" });
    else if (kind === "ended") tell({ kind, runId: a, threadId: b });
    else if (kind === "gone") tell({ kind, runId: a });
    else if (kind === "inbox") tell({ kind });
  };
  const tell = (notice: Notice): void => {
    for (const { told } of listeners) told(notice);
  };

  const repeat = (): void => {
    for (const key of listened.keys()) send(`+ ${key}`); // notices.2
    const now = clock.monotonic();
    for (const [key, by] of remote) {
      for (const [process, until] of by) if (until < now) by.delete(process);
      if (by.size === 0) remote.delete(key);
    }
    if (!stopped) stopRepeating = clock.after(REPEAT_MS, repeat);
  };

  const connect = async (): Promise<void> => {
    const limits = { connectionTimeoutMillis: 5000, query_timeout: ANSWER_TIMEOUT_MS };
    const made = new Client({ ...connectionConfig(ports.uri), ...limits });
    let lost = false;
    const lose = (reason: string): void => {
      if (lost) return;
      lost = true;
      client = null;
      made.end().catch(() => undefined);
      if (stopped) return;
      log.debug("notices_lost", { reason });
      clock.after(RECONNECT_MS[Math.min(failures++, RECONNECT_MS.length - 1)] ?? 0, () => void connect()); // notices.3
    };
    made.on("error", (error) => lose(describeError(error).message));
    made.on("end", () => lose("ended"));
    made.on("notification", hear);
    try {
      await made.connect();
      await made.query(
        `SET synchronous_commit = off; LISTEN ${CHANNEL}${ports.servesCalls ? `; LISTEN ${CALLS_CHANNEL}` : ""}`,
      );
    } catch (error) {
      lose(describeError(error).message);
      return;
    }
    if (lost || stopped) return;
    client = made;
    const again = failures > 0;
    failures = 0;
    for (const key of listened.keys()) send(`+ ${key}`);
    if (pending.size > 0) send(pending.values().next().value ?? MISSED);
    if (again) for (const { missed } of listeners) missed(); // notices.3
  };

  return {
    name: "notices",
    async start() {
      await connect();
      stopRepeating = clock.after(REPEAT_MS, repeat);
    },
    async stop() {
      // other tasks may wait for the last of it
      if (client !== null && sending !== null) await settlesWithin(sending, CLOSE_MS);
      stopped = true;
      stopRepeating();
      if (client !== null) await settlesWithin(client.end(), CLOSE_MS);
    },
    wakes: {
      wake(key) {
        local.wake(key);
        if (remote.has(key)) send(`wake ${key}`);
      },
      listen(key, woken) {
        const count = listened.get(key) ?? 0;
        listened.set(key, count + 1);
        if (count === 0) send(`+ ${key}`);
        const stop = local.listen(key, woken);
        return () => {
          stop();
          const left = (listened.get(key) ?? 1) - 1;
          if (left > 0) listened.set(key, left);
          else if (listened.delete(key)) send(`- ${key}`);
        };
      },
      listeners: (key) => local.listeners(key),
      hasRemoteListeners: (key) => remote.has(key),
      onRemoteListener: (callback) => void interested.push(callback),
    },
    peers: {
      alone: false,
      tell(notice) {
        if (notice.kind === "inbox") {
          if (remote.has("inbox")) send("inbox");
        } else if (notice.kind === "abort") send(`abort ${notice.runId} ${notice.reason}`);
        else if (notice.kind === "gone") send(`gone ${notice.runId}`);
        else if (notice.expected || remote.has(notice.runId)) send(`ended ${notice.runId} ${notice.threadId}`);
      },
      listen: (told, missed) => void listeners.push({ told, missed }),
    },
  };
}

/** `[channel, payload]` for each channel with lines. */
function payloads(lines: readonly string[]): readonly (readonly [string, string])[] {
  const made: (readonly [string, string])[] = [];
  const open = new Map<string, string>();
  for (const line of lines) {
    const channel = FOR_CALLS.has(line.split(" ", 1)[0] ?? "") ? CALLS_CHANNEL : CHANNEL;
    const before = open.get(channel);
    const isFull = before !== undefined && before.length + line.length >= PAYLOAD_MAX;
    if (isFull) made.push([channel, before]);
    open.set(channel, before === undefined || isFull ? line : `${before}\n${line}`);
  }
  return [...made, ...open];
}
