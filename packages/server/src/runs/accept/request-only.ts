// Request only: the runs that the thread of a request takes. It is created with its question, then takes the answer, and
// ends once (model/request.ts).
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import { REQUEST_GRAPH } from "../../model/built-in-assistant.ts";
import { refuseChange } from "../../model/request.ts";
import type { Thread } from "../../model/model.ts";

interface AskedRun {
  readonly thread: Thread;
  /** That of the run's assistant. */
  readonly graphId: string;
  readonly intent: Intent;
  /** The run asks a request, on its new thread. */
  readonly asksRequest: boolean;
}

/** @throws {ApiError} `request_fixed` */
export function refuseOnRequest({ thread, graphId, intent, asksRequest }: AskedRun): void {
  if (asksRequest || isAnswer(intent)) return;
  refuseChange(thread);
  if (graphId !== REQUEST_GRAPH) return;
  throw new ApiError("request_fixed", "Requests begin with POST /requests, not with a run.", { see: "/requests" });
}

function isAnswer(intent: Intent): boolean {
  return intent.kind === "resume" && intent.fork !== true && intent.update === undefined && intent.goto === undefined;
}
