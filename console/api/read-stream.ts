// Read stream: the events of one run, read once from its beginning to its end. A reader that is cut off begins anew.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { request } from "./client.ts";
import type { StreamEvent } from "./events.ts";

/** Resolves when the stream has ended. @throws {ApiProblem} when it cannot be opened or breaks. */
export async function readStream(
  path: string,
  onEvent: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await request("GET", path, { headers: { accept: "text/event-stream" }, signal });
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = events?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) return;
    onEvent({ event: next.value.event ?? "message", data: JSON.parse(next.value.data) as unknown });
  }
}
