// Progress: one notification for each step of a run, and one whenever some time passes without any, for clients that
// asked for them: they give up on a call that is silent for a minute, and their cancellation would end the run.
import type { Clock } from "@holdpoint/base/clock.ts";
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import type { RunPlace } from "../calls/run-object.ts";
import type { OwnApi } from "../calls/own-api.ts";

export interface Progress {
  readonly follow: (place: RunPlace) => void;
  readonly end: () => void;
}

interface ProgressNotification {
  readonly method: "notifications/progress";
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly message: string };
}

export interface ProgressOptions {
  readonly api: OwnApi;
  readonly clock: Clock;
  /** Longest silence. */
  readonly everyMs: number;
  /** That of the request; without one nothing is read or sent. */
  readonly token: Json | undefined;
  readonly notify: (notification: ProgressNotification) => Promise<void>;
  /** What the first notification says. */
  readonly state?: string;
}

export function startProgress({ api, clock, everyMs, token, notify, state: first }: ProgressOptions): Progress {
  const over = new AbortController();
  if (typeof token !== "string" && typeof token !== "number") return { follow: () => undefined, end: () => undefined };
  let progress = 0;
  let state = first ?? "The run starts.";
  let cancel: () => void = () => undefined;
  const tell = async (message: string): Promise<void> => {
    if (over.signal.aborted) return;
    schedule();
    await notify({ method: "notifications/progress", params: { progressToken: token, progress: ++progress, message } });
  };
  const schedule = (): void => {
    cancel();
    cancel = clock.after(everyMs, () => void tell(state).catch(() => undefined)); // a lost notification fails no call
  };
  const read = async ({ threadId, runId }: RunPlace): Promise<void> => {
    state = "The run is in progress.";
    for await (const { event, data } of api.events(`/threads/${threadId}/runs/${runId}/stream`, over.signal)) {
      if (event === "updates") await tell(listNodes(data));
    }
    state = "The run has stopped: it waits for a person, or its result follows.";
  };
  schedule();
  return {
    follow: (place) => void read(place).catch(() => undefined),
    end() {
      over.abort();
      cancel();
    },
  };
}

function listNodes(data: string): string {
  const update: unknown = JSON.parse(data);
  return isJsonObject(update) ? Object.keys(update).join(", ") : "step";
}
