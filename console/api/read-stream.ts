// Read stream: the events of one run, read once from start to end. An interrupted reader starts again.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { request } from "./client.ts";
import type { StreamEvent } from "./events.ts";

/** Resolves at the end of the stream. @throws {ApiProblem} if it fails to open or breaks. */
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
