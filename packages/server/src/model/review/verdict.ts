// Verdict: whether an answer approves or rejects, and which answers agree. Pure.
// Invariants:
//   verdict.1. An answer rejects only if all of it is one of the rejection forms of its question. Everything else
//     approves exactly that value, and needs as many people as any approval.
//   verdict.2. Approvals agree if they are the same value. The order of members does not count, and an acceptance that
//     repeats the arguments of its request is one without arguments.
import { isDeepStrictEqual } from "node:util";
import { type Question, recognise } from "@holdpoint/api/dialects.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt, Vote } from "../model.ts";

type Verdict = Vote["verdict"];
type Asked = Pick<Interrupt, "value" | "responseSchema">;

/**
 * | dialect | a rejection |
 * | --- | --- |
 * | `hitl`, `hitl_camel` | `{decisions: […]}`, each `{type: "reject", message?}` or `{type: "respond", message}` |
 * | `human_interrupt` | `[…]`, each `{type: "ignore", args?: null}` or `{type: "response", args: <text>}` |
 * | others | `false`, `{approved: false}` |
 */
export function toVerdict({ value, responseSchema }: Asked, answer: Json): Verdict {
  return isRejection(recognise(value, responseSchema), answer) ? "reject" : "approve"; // verdict.1
}

function isRejection(asked: Question, answer: Json): boolean {
  const { actions, dialect } = asked;
  if (actions.length === 0) return answer === false || isDeepStrictEqual(answer, { approved: false });
  const decisions = dialect === "human_interrupt" ? answer : onlyMember(answer, "decisions");
  if (!Array.isArray(decisions) || decisions.length !== actions.length) return false;
  return (decisions as readonly Json[]).every(dialect === "human_interrupt" ? declinesResponse : declinesDecision);
}

function onlyMember(value: Json, name: string): Json | undefined {
  return isJsonObject(value) && hasOnly(value, [name]) ? value[name] : undefined;
}

function hasOnly(value: JsonObject, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

function declinesDecision(decision: Json): boolean {
  if (!isJsonObject(decision) || !hasOnly(decision, ["type", "message"])) return false;
  const { type, message } = decision;
  return type === "reject" ? message === undefined || isText(message) : type === "respond" && isText(message);
}

function declinesResponse(response: Json): boolean {
  if (!isJsonObject(response) || !hasOnly(response, ["type", "args"])) return false;
  const { type, args } = response;
  return type === "ignore" ? (args ?? null) === null : type === "response" && isText(args);
}

function isText(value: Json | undefined): boolean {
  return typeof value === "string";
}

/** Two answers agree exactly if their texts are equal (verdict.2). */
export function formatProposal({ value, responseSchema }: Asked, answer: Json): string {
  const { dialect, actions } = recognise(value, responseSchema);
  if (dialect !== "human_interrupt" || !Array.isArray(answer)) return sortedText(answer);
  return sortedText((answer as readonly Json[]).map((one, index) => accepted(one, actions[index])));
}

/** Agent inboxes repeat the arguments. */
function accepted(response: Json, action: Question["actions"][number] | undefined): Json {
  if (!isJsonObject(response) || !hasOnly(response, ["type", "args"]) || response["type"] !== "accept") return response;
  const { args = null } = response;
  const isSame = action !== undefined && isDeepStrictEqual(args, { action: action.name ?? "", args: action.args });
  return isSame || args === null ? { type: "accept" } : response;
}

function sortedText(value: Json): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
