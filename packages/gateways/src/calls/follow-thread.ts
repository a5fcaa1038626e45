// Follow thread: waits until a thread has no run in progress, and reports how its newest run ended.
// Invariants:
//   - The result belongs to the newest run: an answer from the inbox or from another client is followed.
//   follow-thread.3. Runs and items are two reads. An answer between them is no cancellation: the newer run is followed.
//   - An ended wait changes nothing on the thread.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { repeatedWait } from "@holdpoint/base/http/server/repeated-wait.ts";
import type { OwnApi } from "./own-api.ts";
import { getRun, newestRun, type RunPlace } from "./run-object.ts";

const LOOK_MS = 1000;

export type Outcome = RunPlace &
  (
    | { readonly kind: "completed"; readonly values: Json }
    | { readonly kind: "failed"; readonly error: string; readonly message: string }
    /** Interrupts and breakpoints that wait for a person, at least one. */
    | { readonly kind: "paused"; readonly items: readonly InboxItem[] }
    | { readonly kind: "cancelled" }
  );

/** @throws {ApiRefusal} `thread_not_found`; the signal's reason */
export async function followThread(api: OwnApi, place: RunPlace, signal: AbortSignal): Promise<Outcome> {
  for (let { runId } = place; ;) {
    const reply = await api.call("GET", `/threads/${place.threadId}/runs/${runId}/join`, { signal });
    const newest = await newestRun(api, place.threadId);
    if (
      newest !== null &&
      newest.run_id !== runId &&
      newest.created_at >= (await getRun(api, place.threadId, runId)).created_at
    ) {
      runId = newest.run_id;
      continue;
    }
    const at = { threadId: place.threadId, runId };
    const error = isJsonObject(reply) ? reply["__error__"] : undefined;
    if (isJsonObject(error)) return { ...at, kind: "failed", ...readError(error) };
    const items = await openItems(api, place.threadId);
    if (items.length > 0) return { ...at, kind: "paused", items };
    if (newest?.status === "interrupted") {
      if ((await newestRun(api, place.threadId))?.run_id !== newest.run_id) continue; // follow-thread.3
      return { ...at, kind: "cancelled" };
    }
    return { ...at, kind: "completed", values: reply };
  }
}

/**
 * Resolves at the start of a run on the thread after `runId`, or at the end of the signal. An event of the thread wakes
 * the wait at once; the timer finds a run that started before the stream was read.
 */
export async function nextRun(api: OwnApi, { threadId, runId }: RunPlace, signal: AbortSignal): Promise<void> {
  const events = api.events(`/threads/${threadId}/stream?stream_modes=lifecycle`, signal);
  const never = new Promise<never>(() => undefined);
  let event = repeatedWait(waitForNext(events), api.clock);
  try {
    while (!signal.aborted && (await newestRun(api, threadId))?.run_id === runId) {
      const woken = await event.within(LOOK_MS);
      if (woken !== null) event = repeatedWait(woken === "event" ? waitForNext(events) : never, api.clock);
    }
  } finally {
    void events.return(undefined).catch(() => undefined);
  }
}

/** The next event of a stream, or its end; a stream that fails has ended. */
function waitForNext(events: AsyncGenerator): Promise<"event" | "end"> {
  return events.next().then(
    ({ done }) => (done === true ? "end" : "event"),
    () => "end",
  );
}

/** Open items of a thread, oldest first. */
export async function openItems(api: OwnApi, threadId: string): Promise<readonly InboxItem[]> {
  const page = await api.call("GET", `/inbox?thread_id=${threadId}&limit=100`);
  return (page as unknown as { readonly items: readonly InboxItem[] }).items;
}

function readError({ error, message }: JsonObject): { readonly error: string; readonly message: string } {
  return {
    error: typeof error === "string" ? error : "Error",
    message: typeof message === "string" ? message : "",
  };
}
