// Progress: one notification for each step of a run, for clients that asked for them.
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

/** @param token of the request; without one nothing is read or sent */
export function progressOf(
  api: OwnApi,
  token: Json | undefined,
  notify: (notification: ProgressNotification) => Promise<void>,
): Progress {
  const over = new AbortController();
  if (typeof token !== "string" && typeof token !== "number") return { follow: () => undefined, end: () => undefined };
  const read = async ({ threadId, runId }: RunPlace): Promise<void> => {
    let progress = 0;
    for await (const { event, data } of api.events(`/threads/${threadId}/runs/${runId}/stream`, over.signal)) {
      if (event !== "updates") continue;
      const params = { progressToken: token, progress: ++progress, message: nodesOf(data) };
      await notify({ method: "notifications/progress", params });
    }
  };
  return {
    follow: (place) => void read(place).catch(() => undefined), // a lost notification fails no call
    end: () => over.abort(),
  };
}

function nodesOf(data: string): string {
  const update: unknown = JSON.parse(data);
  return isJsonObject(update) ? Object.keys(update).join(", ") : "step";
}
