// A reader of the thread protocol that does as little as possible: it looks for ids in the text of its stream.
import { Agent, request, type IncomingMessage } from "node:http";

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

export function post(url: string, body: object, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const payload = JSON.stringify(body);
    const own = { "content-type": "application/json", "content-length": Buffer.byteLength(payload), ...headers };
    request(url, { method: "POST", agent, headers: own }, resolve).on("error", reject).end(payload);
  });
}

export interface Ended {
  readonly events: number;
  readonly bytes: number;
}

/** Reads until an event whose id has this text, and leaves. @param onEvent called after each piece with an event */
export async function readTo(response: IncomingMessage, last: RegExp, onEvent?: () => void): Promise<Ended> {
  let rest = "";
  let events = 0;
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    const text = rest + piece.toString("latin1");
    let at = text.startsWith("id: ") ? 0 : text.indexOf("\nid: ");
    let isLast = false;
    let done = 0;
    while (at >= 0) {
      const end = text.indexOf("\n\n", at + 1);
      if (end < 0) break;
      events++;
      const from = text.indexOf(" ", at) + 1;
      isLast ||= last.test(text.slice(from, text.indexOf("\n", from)));
      done = end + 1;
      at = text.indexOf("\nid: ", end);
    }
    if (events > 0) onEvent?.();
    if (isLast) {
      response.destroy();
      return { events, bytes };
    }
    rest = text.slice(done);
  }
  throw new Error(`the stream ended after ${events} events`);
}
