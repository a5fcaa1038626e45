import { GRANTED } from "../../auth/authorize.ts";
import { type Run, VALUES_ONLY } from "../../model/model.ts";
import type { RunCall } from "./run-request.ts";

/** Call that continues a paused run with its own parameters (answer-inbox.4). */
export function continuation(asker: Run | null, assistantId: string): RunCall {
  const request = asker?.request ?? null;
  return {
    assistantId,
    input: undefined,
    command: null,
    config: request?.config ?? {},
    context: request?.context ?? null,
    metadata: {},
    interruptBefore: request?.interruptBefore ?? null,
    interruptAfter: request?.interruptAfter ?? null,
    multitaskStrategy: "reject",
    ifNotExists: "reject",
    durability: request?.durability ?? "async",
    stream: request?.stream ?? VALUES_ONLY, // its readers follow the thread: text keeps streaming
    webhook: request?.webhook ?? null,
    notify: request?.notify ?? null,
    afterSeconds: 0,
    checkpointId: null,
    subgraph: null,
    idempotencyKey: null,
    requestHash: "",
    rights: { disable: GRANTED }, // the run that asked had it
    reach: { threads: null, assistants: null },
  };
}
