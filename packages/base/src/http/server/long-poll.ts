// Long poll: a reply that may take hours. A fast result is an ordinary reply; a slow one starts with blank lines that
// keep proxies from timing out. JSON may start with whitespace, so clients need no special handling.
import type { Clock } from "../../clock.ts";
import { type RepeatedWait, repeatedWait } from "./repeated-wait.ts";
import type { HttpReply } from "./reply.ts";
import { UNBUFFERED } from "./sse.ts";

/** @param result the eventual reply. Its status and headers count only within `keepAliveMs`. */
export async function replyWhenReady(
  result: Promise<HttpReply>,
  earlyHeaders: Readonly<Record<string, string>>,
  clock: Clock,
  keepAliveMs: number,
): Promise<HttpReply> {
  const wait = repeatedWait(result, clock);
  const soon = await wait.within(keepAliveMs);
  return soon ?? { status: 200, body: blankLinesUntil(wait, keepAliveMs), headers: { ...earlyHeaders, ...UNBUFFERED } };
}

async function* blankLinesUntil(wait: RepeatedWait<HttpReply>, everyMs: number): AsyncGenerator<string> {
  let reply: HttpReply | null;
  do {
    yield "\n";
    reply = await wait.within(everyMs);
  } while (reply === null);
  yield typeof reply.body === "string" ? reply.body : "null";
}
