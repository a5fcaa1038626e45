// Run object: a run of the API, as gateways read it.
import type { Json, JsonObject } from "../../base/json/json.ts";
import type { OwnApi } from "./own-api.ts";

export interface RunPlace {
  readonly threadId: string;
  readonly runId: string;
}

export interface RunObject {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly ended_by: string | null;
  readonly metadata: JsonObject;
  readonly kwargs: {
    readonly input: Json;
    /** `resume`: answers by interrupt id. */
    readonly command: { readonly resume?: JsonObject } | null;
  };
  /** The first of the runs that this one continues. */
  readonly continues?: string;
  readonly error?: { readonly error: string; readonly message: string };
}

/** @throws {ApiRefusal} `thread_not_found`, `run_not_found` */
export async function getRun(api: OwnApi, threadId: string, runId: string): Promise<RunObject> {
  return (await api.call("GET", `/threads/${threadId}/runs/${runId}`)) as unknown as RunObject;
}

/** Null for a thread without runs. @throws {ApiRefusal} `thread_not_found` */
export async function newestRun(api: OwnApi, threadId: string): Promise<RunObject | null> {
  const runs = await api.call("GET", `/threads/${threadId}/runs?limit=1`);
  return (runs as unknown as readonly RunObject[])[0] ?? null;
}
