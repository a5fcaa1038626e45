// Run object: a run of the API, as gateways read it.
import type { Run } from "@holdpoint/api/schemas.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { OwnApi } from "./own-api.ts";

export interface RunPlace {
  readonly threadId: string;
  readonly runId: string;
}

/** A run without its input, which may be long. */
export type RunHead = Omit<Run, "kwargs">;

export interface RunObject extends RunHead {
  readonly kwargs: {
    readonly input: Json;
    /** `resume`: answers by interrupt id. */
    readonly command: { readonly resume?: JsonObject } | null;
  };
}

/** @throws {ApiRefusal} `thread_not_found`, `run_not_found` */
export async function getRun(api: OwnApi, threadId: string, runId: string): Promise<RunObject> {
  return (await api.call("GET", `/threads/${threadId}/runs/${runId}`)) as unknown as RunObject;
}

const WITHOUT_INPUT = "run_id,thread_id,assistant_id,status,created_at,updated_at,ended_by,metadata,continues,error";

/** Null for a thread without runs. @throws {ApiRefusal} `thread_not_found` */
export async function newestRun(api: OwnApi, threadId: string): Promise<RunHead | null> {
  const runs = await api.call("GET", `/threads/${threadId}/runs?limit=1&select=${WITHOUT_INPUT}`);
  return (runs as unknown as readonly RunHead[])[0] ?? null;
}
