// Run start: a requested run, and the facts for the decision about it.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import { exceedsBytes } from "@holdpoint/base/json/json-size.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { type Intent, readIntent } from "../../interrupts/run-intent.ts";
import type { AgentLimits } from "../../context/context.ts";
import type { Caller, Encoded, Thread } from "../../model/model.ts";
import type { AcceptTx, CronTx, Graphs } from "../../ports/ports.ts";
import { type RunCall, checkControlValues } from "./run-request.ts";
import type { StartSnapshot } from "./start-snapshot.ts";

/** A requested run. */
export interface RunStart {
  readonly threadId: string;
  readonly call: RunCall;
  /** Precondition in the same transaction. An error from it refuses the run. */
  readonly first?: (tx: AcceptTx & CronTx) => Promise<void>;
  /** Writes of the same transaction, once its answers are taken, or count as votes; not for a repeated call. */
  readonly answered?: (tx: AcceptTx) => Promise<void>;
  /** Properties of the thread, if the call creates it. */
  readonly newThread?: Pick<Thread, "ttlMs" | "ttlStrategy" | "onCompletion">;
}

/** Intent and input of a call, checked and encoded before the transaction: a long input takes several turns. */
export interface GivenByCall {
  readonly intent: Intent;
  readonly input: Encoded | null;
  /** contentHash() of the input; null without one. */
  readonly inputHash: string | null;
}

/** @throws {ApiError} `control_value_refused`, `answer_too_large`, `member_too_large` */
export async function readGiven({ graphs, limits }: ReadsGiven, call: RunCall): Promise<GivenByCall> {
  const intent = readIntent(call.input, call.command);
  if (intent.kind === "resume") checkAnswerSize(intent.resume, limits.answerBytesMax);
  checkCommandSize(intent, limits.answerBytesMax);
  checkControlValues(graphs, intent);
  if (intent.kind !== "input") return { intent, input: null, inputHash: null };
  const input = await graphs.encode(intent.input);
  return { intent, input, inputHash: contentHash(input) };
}

interface ReadsGiven {
  readonly graphs: Pick<Graphs, "checkGiven" | "encode">;
  readonly limits: Pick<AgentLimits, "answerBytesMax">;
}

function checkAnswerSize(answer: Json, bytesMax: number): void {
  if (!exceedsBytes(answer, bytesMax)) return;
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  const cure = "Upload the data and answer with a reference to it.";
  throw new ApiError("answer_too_large", `The answer has ${bytes} bytes as JSON, and ${bytesMax} are allowed. ${cure}`);
}

/** A command is stored with its run, and read with it. */
function checkCommandSize(intent: Intent, bytesMax: number): void {
  if (intent.kind === "input" || intent.kind === "continue") return;
  const { update, goto } = intent;
  for (const [name, value] of Object.entries({ update, goto })) {
    if (value === undefined || !exceedsBytes(value, bytesMax)) continue;
    const cure = "Send large data as input, or write it with an update of the state, or raise the limit.";
    const detail = `command.${name} has more than ${bytesMax} bytes as JSON. ${cure}`;
    throw new ApiError("member_too_large", detail);
  }
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

export interface PlacedRequest extends StartRequest {
  /** The run waits for the end of the pause. */
  readonly waits: boolean;
}
