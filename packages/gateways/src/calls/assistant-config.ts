// Assistant config: settings of an assistant that apply to all its interrupts.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { ApiRefusal, type OwnApi } from "./own-api.ts";
import { getRun, type RunPlace } from "./run-object.ts";

export type ConfigOf = (api: OwnApi, assistantId: string) => Promise<Json>;

/** Config of an assistant; null for one that is gone. */
export const configOfAssistant: ConfigOf = async (api, assistantId) => {
  try {
    const assistant = (await api.call("GET", `/assistants/${encodeURIComponent(assistantId)}`)) as JsonObject;
    return assistant["config"] ?? null;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 404) return null;
    throw error;
  }
};

/** Config of the assistant of a run. @throws {ApiRefusal} `run_not_found` */
export async function configOfRun(api: OwnApi, { threadId, runId }: RunPlace): Promise<Json> {
  return configOfAssistant(api, (await getRun(api, threadId, runId)).assistant_id);
}
