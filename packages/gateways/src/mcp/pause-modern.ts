// Pause, revision 2026-07-28: the call ends with `input_required`, and the client repeats it with the answers. Nothing
// is held in memory between the two: a restart, or another process, changes nothing.
// Invariants:
//   - The state that travels through the client names the run only; every call passes the caller's rights.
import { inputRequired, type InputRequests, type InputRequiredResult } from "@modelcontextprotocol/server";
import { isUuid } from "@holdpoint/base/ids.ts";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import { type Outcome, nextRun } from "../calls/follow-thread.ts";
import type { RunPlace } from "../calls/run-object.ts";
import { type Elicited, type ElicitParams, type Elicits, parseElicited } from "./elicitation.ts";
import { answerElicited, paramsFor, type Refusals, type ToolCall } from "./tool-call.ts";

/** Longest wait of a call for the answer to an opened link. */
export const LINK_WAIT_MS = 600_000;

export interface RepeatedCall {
  readonly place: RunPlace;
  readonly elicited: ReadonlyMap<string, Elicited>;
}

/** Null for the first call. */
export function findRepeatedCall(
  state: string | undefined,
  responses: Record<string, unknown> | undefined,
): RepeatedCall | null {
  const place = state === undefined ? null : decodePlace(state);
  if (place === null) return null;
  const elicited = Object.entries(responses ?? {}).flatMap(([id, value]): [string, Elicited][] => {
    const one = parseElicited(value);
    return one === null ? [] : [[id, one]];
  });
  return { place, elicited: new Map(elicited) };
}

export type Repeated =
  /** The user declined, or closed the form: the run stays paused. */
  { readonly kind: "declined" } | { readonly kind: "go_on"; readonly refusals: Refusals };

export async function applyAnswers(call: ToolCall, { place, elicited }: RepeatedCall): Promise<Repeated> {
  if ([...elicited.values()].some(({ action }) => action !== "accept")) return { kind: "declined" };
  const opened = [...elicited].filter(([, { content }]) => Object.keys(content).length === 0);
  const filled = new Map([...elicited].filter(([, { content }]) => Object.keys(content).length > 0));
  if (filled.size === 0 && opened.length > 0) {
    await nextRun(call.api, place, AbortSignal.any([call.signal, call.stopping, AbortSignal.timeout(LINK_WAIT_MS)]));
    return { kind: "go_on", refusals: new Map() };
  }
  return { kind: "go_on", refusals: await answerElicited(call, place.threadId, filled) };
}

/** Null if the client can ask its user nothing about the pause. */
export async function askAgain(
  call: ToolCall,
  outcome: Outcome & { readonly kind: "paused" },
  elicits: Elicits,
  refusals: Refusals,
): Promise<InputRequiredResult | null> {
  const inputRequests: InputRequests = {};
  for (const item of outcome.items) {
    const params = await paramsFor(call, item, elicits, refusals);
    if (params !== null) inputRequests[item.id] = toInputRequest(params);
  }
  if (Object.keys(inputRequests).length === 0) return null;
  return inputRequired({ inputRequests, requestState: encodeState(outcome) });
}

function toInputRequest(params: ElicitParams): InputRequests[string] {
  return params.mode === "url"
    ? inputRequired.elicitUrl({ message: params.message, url: params.url })
    : inputRequired.elicit({ message: params.message, requestedSchema: params.requestedSchema });
}

function encodeState({ threadId, runId }: RunPlace): string {
  return Buffer.from(JSON.stringify({ t: threadId, r: runId })).toString("base64url");
}

function decodePlace(state: string): RunPlace | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(state, "base64url").toString());
    if (!isJsonObject(value)) return null;
    const { t: threadId, r: runId } = value;
    return isUuid(threadId as string) && isUuid(runId as string)
      ? { threadId: threadId as string, runId: runId as string }
      : null;
  } catch {
    return null;
  }
}
