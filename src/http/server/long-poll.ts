// Long poll: a reply that may take hours. A fast result is an ordinary reply; a slow one starts with blank lines that
// keep proxies from timing out. JSON may start with whitespace, so clients need no special handling.
import type { Clock } from "../../base/clock.ts";
import type { HttpReply } from "./reply.ts";

/** @param result the eventual reply. Its status and headers count only within `keepAliveMs`. */
export async function replyWhenReady(
  result: Promise<HttpReply>,
  earlyHeaders: Readonly<Record<string, string>>,
  clock: Clock,
  keepAliveMs: number,
): Promise<HttpReply> {
  const soon = await within(result, clock, keepAliveMs);
  return soon ?? { status: 200, body: blankLinesUntil(result, clock, keepAliveMs), headers: earlyHeaders };
}

async function* blankLinesUntil(result: Promise<HttpReply>, clock: Clock, everyMs: number): AsyncGenerator<string> {
  let reply: HttpReply | null;
  do {
    yield "\n";
    reply = await within(result, clock, everyMs);
  } while (reply === null);
  yield typeof reply.body === "string" ? reply.body : "null";
}

/** Null if the time elapses first. */
async function within<T>(result: Promise<T>, clock: Clock, ms: number): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const cancel = clock.after(ms, () => resolve(null));
  try {
    return await Promise.race([result, promise]);
  } finally {
    cancel();
  }
}
