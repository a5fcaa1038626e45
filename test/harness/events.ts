// Server-sent events in tests: one stream, event after event, with the comments between them.
import assert from "node:assert/strict";
import { type Arrivals, createArrivals } from "./arrivals.ts";

export interface WireEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: never;
}

export interface EventReader {
  readonly headers: Headers;
  /** The next event; null at the end. */
  next(): Promise<WireEvent | null>;
  /** All remaining events. */
  rest(): Promise<readonly WireEvent[]>;
  /** Comments that have come so far. */
  readonly comments: readonly string[];
  readonly whenComments: Arrivals<string>["when"];
  /** Hangs up. */
  leave(): void;
}

/** @throws {AssertionError} unless the server answers with a stream. */
export async function readEvents(
  server: { readonly url: string },
  path: string,
  { body, lastEventId }: { readonly body?: object; readonly lastEventId?: string } = {},
): Promise<EventReader> {
  const controller = new AbortController();
  const response = await fetch(`${server.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: controller.signal,
  });
  assert.equal(response.headers.get("content-type"), "text/event-stream", `${response.status} ${path}`);
  const comments = createArrivals<string>();
  const events = eventsIn(readLines(response), comments.add);
  const next = async (): Promise<WireEvent | null> => {
    const { value, done } = await events.next();
    return done === true ? null : value;
  };
  return {
    headers: response.headers,
    comments: comments.list,
    whenComments: comments.when,
    next,
    async rest() {
      const left: WireEvent[] = [];
      for (let event = await next(); event !== null; event = await next()) left.push(event);
      return left;
    },
    leave: () => controller.abort(),
  };
}

async function* readLines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of response.body ?? []) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  assert.equal(rest, "", "the stream ends with a whole line");
}

async function* eventsIn(
  lines: AsyncIterable<string>,
  onComment: (text: string) => void,
): AsyncGenerator<WireEvent, undefined> {
  let [event, data, id]: [string | null, string, string | null] = [null, "", null];
  for await (const line of lines) {
    if (line.startsWith(": ")) onComment(line.slice(2));
    else if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data = line.slice(6);
    else if (line.startsWith("id: ")) id = line.slice(4);
    else {
      assert.equal(line, "", "no other fields are sent");
      assert.ok(event !== null, "a blank line ends an event");
      yield { event, id, data: JSON.parse(data) as never };
      [event, data, id] = [null, "", null];
    }
  }
}
