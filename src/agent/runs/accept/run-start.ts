// Run start: a requested run, and the facts for the decision about it.
import { type Intent, intentOf } from "../../interrupts/run-intent.ts";
import type { Caller, Encoded, Thread } from "../../model/model.ts";
import type { Graphs, Tx } from "../../ports/ports.ts";
import { type RunCall, checkControlValuesInSlices } from "./run-request.ts";
import type { StartSnapshot } from "./start-snapshot.ts";

/** A requested run. */
export interface RunStart {
  readonly threadId: string;
  readonly call: RunCall;
  /** Precondition in the same transaction. An error from it refuses the run. */
  readonly first?: (tx: Tx) => Promise<void>;
  /** Properties of the thread, if the call creates it. */
  readonly newThread?: Pick<Thread, "ttlMs" | "ttlStrategy" | "onCompletion">;
}

/** Intent and input of a call, checked and encoded before the transaction: a long input takes several turns. */
export interface GivenByCall {
  readonly intent: Intent;
  readonly input: Encoded | null;
}

/** @throws {ApiError} `control_value_refused` */
export async function readGiven(
  graphs: Pick<Graphs, "checkGivenInSlices" | "encode">,
  call: RunCall,
): Promise<GivenByCall> {
  const intent = intentOf(call.input, call.command);
  await checkControlValuesInSlices(graphs, intent);
  return { intent, input: intent.kind === "input" ? await graphs.encode(intent.input) : null };
}

export type GivenStart = RunStart & { readonly given: GivenByCall; readonly slotFree: boolean };

export interface StartRequest {
  readonly caller: Caller;
  readonly start: GivenStart;
  /** As the call has it. */
  readonly intent: Intent;
  readonly snapshot: StartSnapshot;
  readonly at: number;
}
