// Wait: a reply that may take hours. It is an ordinary reply when it comes soon, and otherwise begins with blank lines
// that keep every proxy between here and the caller from giving up. JSON may begin with blanks, so clients need no care.
import type { Clock } from "../base/clock.ts";
import type { HttpReply } from "./app.ts";

/** @param result the reply, when it comes. Its status and headers count only if it comes within `keepAliveMs`. */
export async function replyWhenReady(
  result: Promise<HttpReply>,
  earlyHeaders: Readonly<Record<string, string>>,
  clock: Clock,
  keepAliveMs: number,
): Promise<HttpReply> {
  let stopWaiting: () => void = () => undefined;
  const soon = await Promise.race([
    result,
    new Promise<null>((resolve) => {
      stopWaiting = clock.after(keepAliveMs, () => resolve(null));
    }),
  ]);
  stopWaiting();
  return soon ?? { status: 200, body: blankLinesUntil(result, clock, keepAliveMs), headers: earlyHeaders };
}

function blankLinesUntil(result: Promise<HttpReply>, clock: Clock, everyMs: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const blank = encoder.encode("\n");
  let stop: () => void = () => undefined;
  return new ReadableStream({
    start(controller) {
      const tick = (): void => {
        controller.enqueue(blank);
        stop = clock.after(everyMs, tick);
      };
      tick();
      result.then(
        ({ body }) => {
          stop();
          controller.enqueue(encoder.encode(typeof body === "string" ? body : "null"));
          controller.close();
        },
        (error: unknown) => {
          stop();
          controller.error(error);
        },
      );
    },
    cancel: () => stop(),
  });
}
