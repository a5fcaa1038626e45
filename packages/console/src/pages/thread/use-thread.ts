// Use thread: the data of the thread page. Polls the thread without its values; loads states, runs and checkpoints only
// after a change.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call, request } from "../../api/client.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { StreamEvent } from "../../api/events.ts";
import type { Run, Thread, ThreadState } from "../../api/types.ts";
import { NOTHING_YET, withEvent, type Live } from "./live.ts";
import { SILENCE, withMessageEvent } from "./written-messages.ts";
import { EventSourceParserStream } from "eventsource-parser/stream";

const LOOK_MS = 1500;
const RUNS_MAX = 100;
const SELECT = [
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "status",
  "interrupts",
  "error",
];

/** @throws {ApiProblem} through its error. */
export function useThread(threadId: string) {
  return useQuery({
    queryKey: ["thread", threadId],
    queryFn: async ({ signal }) => {
      const found = await call<readonly Thread[]>("POST", "/threads/search", {
        body: { ids: [threadId], select: SELECT, limit: 1 },
        signal,
      });
      const [thread] = found;
      if (thread === undefined)
        throw new ApiProblem({
          status: 404,
          code: "thread_not_found",
          title: "Thread not found",
          detail: "The thread does not exist, or you have no access to it.",
        });
      return thread;
    },
    refetchInterval: LOOK_MS,
  });
}

export function useThreadState(thread: Thread) {
  return useQuery({
    queryKey: ["thread-state", thread.thread_id, thread.state_updated_at, thread.status],
    queryFn: ({ signal }) => call<ThreadState>("GET", `/threads/${thread.thread_id}/state`, { signal }),
    placeholderData: keepPreviousData,
  });
}

export function useRuns(thread: Thread) {
  return useQuery({
    queryKey: ["thread-runs", thread.thread_id, thread.updated_at, thread.status],
    queryFn: ({ signal }) =>
      call<readonly Run[]>("GET", `/threads/${thread.thread_id}/runs`, { query: { limit: RUNS_MAX }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: thread.status === "busy" ? LOOK_MS : false,
  });
}

/** Refreshes the thread at once. */
export function useRefresh(threadId: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === threadId });
}

/** @param run the running one; null for none. Null if no run streams, or before its first event. */
export function useLive(threadId: string, run: Run | null): Live | null {
  const [live, setLive] = useState<{ readonly runId: string; readonly output: Live } | null>(null);
  const queries = useQueryClient();
  const runId = run?.run_id ?? null;
  const isSilent = run !== null && !hasMessages(run);
  useEffect(() => {
    if (runId === null) return undefined;
    const stop = new AbortController();
    let output = NOTHING_YET;
    let messagesById = SILENCE;
    let frame = 0;
    const show = (): void => {
      frame = 0;
      setLive({ runId, output: { ...output, writing: new Map([...output.writing, ...messagesById]) } });
    };
    const showSoon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(show); // one render for many events
    };
    readStream(
      `/threads/${threadId}/runs/${runId}/stream`,
      (event) => {
        output = withEvent(output, event);
        showSoon();
      },
      stop.signal,
    )
      .catch(() => undefined) // the thread refreshes in any case
      .finally(() => {
        if (!stop.signal.aborted)
          void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === threadId });
      });
    const hear = ({ data }: StreamEvent): void => {
      const next = withMessageEvent(messagesById, data, runId);
      if (next === messagesById) return;
      messagesById = next;
      showSoon();
    };
    if (isSilent) {
      const filter = { channels: ["messages"] };
      readStream(`/threads/${threadId}/stream/events`, hear, stop.signal, filter).catch(() => undefined);
    }
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
    };
  }, [threadId, runId, isSilent, queries]);
  return runId !== null && live?.runId === runId ? live.output : null;
}

/** Whether the stream of the run has messages as they are written. */
function hasMessages({ kwargs }: Run): boolean {
  const { stream_mode: modes } = kwargs;
  return Array.isArray(modes) && modes.some((mode) => String(mode).startsWith("messages"));
}

/** Keeps a run's streamed content visible until the stored state includes it. */
export function useUntilStored(live: Live | null, isStored: boolean): Live | null {
  const [kept, setKept] = useState<Live | null>(null);
  useEffect(() => {
    if (live !== null) setKept(live);
    else if (isStored) setKept(null);
  }, [live, isStored]);
  return live ?? (isStored ? null : kept);
}

// The events of one run, read once from start to end. An interrupted reader starts again.

/**
 * Resolves at the end of the stream.
 * @param body of a POST; a GET without it
 * @throws {ApiProblem} if it fails to open or breaks
 */
async function readStream(
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
