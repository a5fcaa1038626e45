// Read stream: the events of one run, read once from start to end. An interrupted reader starts again.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { request } from "./client.ts";
import type { StreamEvent } from "./events.ts";

/**
 * Resolves at the end of the stream.
 * @param body of a POST; a GET without it
 * @throws {ApiProblem} if it fails to open or breaks
 */
export async function readStream(
  path: string,
  onEvent: (event: StreamEvent) => void,
  signal: AbortSignal,
  body?: unknown,
): Promise<void> {
  const headers = { accept: "text/event-stream" };
  const response = await request(body === undefined ? "GET" : "POST", path, { headers, signal, body });
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = events?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) return;
    onEvent({ event: next.value.event ?? "message", data: JSON.parse(next.value.data) as unknown });
  }
}
