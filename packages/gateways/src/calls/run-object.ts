// Run object: a run of the API, as gateways read it.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
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

const WITHOUT_INPUT = "run_id,thread_id,assistant_id,status,created_at,updated_at,ended_by,metadata,continues,error";

/** A run without its input, which may be long. */
export type RunHead = Omit<RunObject, "kwargs">;

/** Null for a thread without runs. @throws {ApiRefusal} `thread_not_found` */
export async function newestRun(api: OwnApi, threadId: string): Promise<RunHead | null> {
  const runs = await api.call("GET", `/threads/${threadId}/runs?limit=1&select=${WITHOUT_INPUT}`);
  return (runs as unknown as readonly RunHead[])[0] ?? null;
}
