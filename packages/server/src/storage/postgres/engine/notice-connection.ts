// Notice connection: the connection that listens for notices, and its replacement when it is lost.
import type { Notification } from "pg";
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { DatabaseAddress } from "../client/address.ts";
import { createDirectClient } from "../client/database-client.ts";
import { ANSWER_TIMEOUT_MS } from "../client/pool.ts";
import { CALLS_CHANNEL, CHANNEL, type NoticeSender, RUNS_CHANNEL } from "./notice-sender.ts";

const RECONNECT_MS = [50, 250, 1000, 2000] as const;
const CONNECT_MS_MAX = 5000;

export interface NoticeConnection extends DatabaseAddress {
  readonly sender: NoticeSender;
  readonly servesCalls: boolean;
  readonly isWorker: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly onNotification: (notification: Notification) => void;
  /** @param again after a lost connection: notices may be missing */
  readonly onConnected: (again: boolean) => void;
  /** Since the last connection. */
  failures: number;
}

/** Resolves after the first try; later ones follow on their own. */
export async function connectNotices(connection: NoticeConnection): Promise<void> {
  const { sender, servesCalls, isWorker, onNotification, onConnected } = connection;
  const limits = { connectionTimeoutMillis: CONNECT_MS_MAX, query_timeout: ANSWER_TIMEOUT_MS };
  const client = createDirectClient(connection, limits);
  let lost = false;
  const lose = (reason: string): void => {
    if (lost) return;
    lost = true;
    sender.client = null;
    client.end().catch(() => undefined);
    reconnect(connection, reason);
  };
  client.on("error", (error) => lose(describeError(error).message));
  client.on("end", () => lose("ended"));
  client.on("notification", onNotification);
  try {
    await client.connect();
    const channels = [CHANNEL, ...(servesCalls ? [CALLS_CHANNEL] : []), ...(isWorker ? [RUNS_CHANNEL] : [])];
    const listens = channels.map((channel) => `LISTEN ${channel}`);
    await client.query(["SET synchronous_commit = off", ...listens].join("; "));
  } catch (error) {
    lose(describeError(error).message);
    return;
  }
  if (lost || sender.stopped) return;
  sender.client = client;
  const again = connection.failures > 0;
  connection.failures = 0;
  onConnected(again);
}

function reconnect(connection: NoticeConnection, reason: string): void {
  if (connection.sender.stopped) return;
  connection.log.debug("notices_lost", { reason });
  const delayMs = RECONNECT_MS[Math.min(connection.failures++, RECONNECT_MS.length - 1)] ?? 0;
  connection.clock.after(delayMs, () => void connectNotices(connection));
}
