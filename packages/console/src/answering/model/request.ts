// Request: the presentation of an inbox item, and the answer to it. packages/api/src/dialects.ts has the payload dialects; this
// file adds breakpoints, names for unnamed actions, and empty messages for the screen. Pure.
import {
  buildAnswer,
  recognise,
  type Action as AskedAction,
  type Decision,
  type DecisionType,
  type Question,
} from "@holdpoint/api/dialects.ts";
import { formatAnswer } from "@holdpoint/api/text/answer-words.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { isObject, readMember, readJsonText, type Json, type JsonObject } from "../../json/json.ts";

export type { Decision, DecisionType } from "@holdpoint/api/dialects.ts";

/** In button order. */
export const DECISIONS = ["approve", "edit", "reject", "respond", "ignore"] as const satisfies readonly DecisionType[];

/** An action for display: always has a name. */
export interface Action extends AskedAction {
  readonly name: string;
}

export type Request =
  | { readonly kind: "actions"; readonly question: Question; readonly actions: readonly Action[] }
  | { readonly kind: "form"; readonly schema: JsonObject; readonly payload: Json }
  | { readonly kind: "plain"; readonly payload: Json }
  | { readonly kind: "breakpoint" };

export interface Asked {
  readonly kind: string;
  readonly value: unknown;
  readonly response_schema?: unknown;
}

export function readRequest({ kind, value, response_schema: responseSchema }: Asked): Request {
  if (kind === "breakpoint") return { kind };
  const payload = (value ?? null) as Json;
  const question = recognise(payload, isObject(responseSchema) ? responseSchema : null);
  if (question.actions.length > 0) return { kind: "actions", question, actions: question.actions.map(shown(question)) };
  return question.schema === null ? { kind: "plain", payload } : { kind: "form", schema: question.schema, payload };
}

/** An answer in words: `approved`, `edited: amount 129.9 → 64.95`. */
export function formatGiven(asked: Asked, answer: unknown): string {
  const request = readRequest(asked);
  return formatAnswer((answer ?? null) as Json, request.kind === "actions" ? request.question : null);
}

/** HumanInterrupt has no reject type: Respond and Ignore are its buttons, and either rejects. */
function shown({ dialect }: Question): (action: AskedAction) => Action {
  return (action) => ({
    ...action,
    name: visible(action.name ?? "an action"),
    allowed: dialect === "human_interrupt" ? action.allowed.filter((type) => type !== "reject") : action.allowed,
  });
}

export function allows(action: Action, type: DecisionType): boolean {
  return action.allowed.includes(type);
}

/** Places of the undecided actions that allow an approval. */
export function approvable(actions: readonly Action[], decisions: readonly (Decision | null)[]): readonly number[] {
  return actions.flatMap((action, at) => (decisions[at] === null && allows(action, "approve") ? [at] : []));
}

/** The decisions of a given answer, in order; null if it is not in the terms of the dialect. */
export function readDecisions(request: Request, answer: Json): readonly Decision[] | null {
  if (request.kind !== "actions") return null;
  const list = Array.isArray(answer) ? (answer as readonly Json[]) : readMember(answer, "decisions");
  if (!Array.isArray(list) || list.length !== request.actions.length) return null;
  const decisions = (list as readonly Json[]).map(decisionIn);
  return decisions.every((one) => one !== null) ? decisions : null;
}

function decisionIn(one: Json): Decision | null {
  const edited = readMember(one, "edited_action") ?? readMember(one, "editedAction") ?? readMember(one, "args");
  const message = readMember(one, "message");
  switch (readJsonText(readMember(one, "type")) ?? "") {
    case "approve":
    case "accept":
      return { type: "approve" };
    case "edit":
      return { type: "edit", args: readMember(edited, "args") };
    case "reject":
      return { type: "reject", ...(typeof message === "string" ? { message } : {}) };
    case "respond":
      return { type: "respond", value: message };
    case "response":
      return { type: "respond", value: readMember(one, "args") };
    case "ignore":
      return { type: "ignore" };
    default:
      return null;
  }
}

/** @throws {Error} if the decisions do not match the actions one to one. */
export function buildRequestAnswer(
  { question }: Request & { readonly kind: "actions" },
  decisions: readonly Decision[],
): Json {
  const built = buildAnswer(question, decisions.map(withoutEmptyMessage));
  if (!built.ok) throw new Error(built.reason);
  return built.value;
}

/** An empty text field means no message. */
function withoutEmptyMessage(decision: Decision): Decision {
  return decision.type === "reject" && decision.message === "" ? { type: "reject" } : decision;
}

/** Approves every action; null if one of them does not allow it. */
export function buildApproval(request: Request): Json | null {
  if (request.kind !== "actions" || !request.actions.every((action) => allows(action, "approve"))) return null;
  return buildRequestAnswer(
    request,
    request.actions.map(() => ({ type: "approve" })),
  );
}

/** The text of a rejection or a response; null for other decisions. */
export function readMessage(decision: Decision | null): string | null {
  if (decision?.type === "reject") return decision.message ?? "";
  if (decision?.type !== "respond") return null;
  return typeof decision.value === "string" ? decision.value : JSON.stringify(decision.value);
}
