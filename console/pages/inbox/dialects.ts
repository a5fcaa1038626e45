// Dialects: what a payload asks for, and the answer in the payload's own words. Pure.
//
// | dialect | the payload is | the answer is |
// | --- | --- | --- |
// | `human_interrupt` | `[{action_request: {action, args}, config, description}]`, or one such object | `[{type, args}]` |
// | `hitl` | `{action_requests: [{name, args}], review_configs}` | `{decisions: [{type, edited_action?, message?}]}` |
// | `hitl_camel` | `{actionRequests: [{name, args}], reviewConfigs}` | `{decisions: [{type, editedAction?, message?}]}` |
// | form | anything that brings a JSON Schema for its answer | what fits the schema |
// | plain | anything else | any JSON |
//
// Invariants:
//   DI1. An answer has one decision for each action, in their order, in the case style of the payload.
//   DI2. Values keep their types: what was a number and was not touched is sent as that number.
//   DI3. Any payload is understood: what is missing in it is what its senders mean by leaving it out.
import { isObject, memberOf, textOf, type Json, type JsonObject } from "../../parts/json.ts";

export const DECISIONS = ["approve", "edit", "reject", "respond", "ignore"] as const;
export type DecisionKind = (typeof DECISIONS)[number];

export type Decision =
  | { readonly type: "approve" | "ignore" }
  | { readonly type: "edit"; readonly args: Json }
  | { readonly type: "reject" | "respond"; readonly message: string };

export interface Action {
  readonly name: string;
  readonly args: Json;
  readonly description: string | null;
  readonly allowed: readonly DecisionKind[];
  /** JSON Schema of `args`. */
  readonly argsSchema: JsonObject | null;
}

export type ActionDialect = "human_interrupt" | "hitl" | "hitl_camel";

export type Request =
  | { readonly kind: "actions"; readonly dialect: ActionDialect; readonly actions: readonly Action[] }
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
  return humanInterrupt(payload) ?? middleware(payload) ?? question(payload, responseSchema);
}

function humanInterrupt(payload: Json): Request | null {
  const list = Array.isArray(payload) ? (payload as readonly Json[]) : [payload];
  if (list.length === 0 || !list.every((one) => isObject(memberOf(one, "action_request")))) return null;
  const actions = list.map((one): Action => {
    const request = memberOf(one, "action_request");
    return {
      name: textOf(memberOf(request, "action")) ?? "an action",
      args: memberOf(request, "args"),
      description: textOf(memberOf(one, "description")),
      allowed: allowedByFlags(memberOf(one, "config")),
      argsSchema: schemaIn(one),
    };
  });
  return { kind: "actions", dialect: "human_interrupt", actions };
}

const FLAGS = [
  ["allow_accept", "approve"],
  ["allow_edit", "edit"],
  ["allow_respond", "respond"],
  ["allow_ignore", "ignore"],
] as const;

/** Without any flag everything is allowed (DI3). */
function allowedByFlags(config: Json): readonly DecisionKind[] {
  const said = FLAGS.some(([flag]) => typeof memberOf(config, flag) === "boolean");
  return FLAGS.filter(([flag]) => !said || memberOf(config, flag) === true).map(([, kind]) => kind);
}

const CASES = [
  [
    "hitl",
    { requests: "action_requests", configs: "review_configs", name: "action_name", allowed: "allowed_decisions" },
  ],
  [
    "hitl_camel",
    { requests: "actionRequests", configs: "reviewConfigs", name: "actionName", allowed: "allowedDecisions" },
  ],
] as const;

function middleware(payload: Json): Request | null {
  for (const [dialect, words] of CASES) {
    const requests = memberOf(payload, words.requests);
    if (!Array.isArray(requests) || requests.length === 0) continue;
    const configs = memberOf(payload, words.configs);
    const list: readonly Json[] = Array.isArray(configs) ? configs : [];
    const actions = (requests as readonly Json[]).map((one, at): Action => {
      const name = textOf(memberOf(one, "name")) ?? textOf(memberOf(one, "action")) ?? "an action";
      const config = list.find((other) => memberOf(other, words.name) === name) ?? list[at] ?? null;
      return {
        name,
        args: memberOf(one, "args") ?? memberOf(one, "arguments"),
        description: textOf(memberOf(one, "description")),
        allowed: allowedByList(memberOf(config, words.allowed)),
        argsSchema: schemaIn(config) ?? schemaIn(one),
      };
    });
    return { kind: "actions", dialect, actions };
  }
  return null;
}

const USUAL: readonly DecisionKind[] = ["approve", "edit", "reject"];

/** Without a list, what the middleware itself allows (DI3). */
function allowedByList(list: Json): readonly DecisionKind[] {
  return Array.isArray(list) ? DECISIONS.filter((kind) => (list as readonly Json[]).includes(kind)) : USUAL;
}

function question(payload: Json, responseSchema: unknown): Request {
  const schema = isObject(responseSchema) ? responseSchema : schemaIn(payload);
  return schema === null ? { kind: "plain", payload } : { kind: "form", schema, payload };
}

const SCHEMA_NAMES = ["response_schema", "responseSchema", "args_schema", "argsSchema", "json_schema", "schema"];

function schemaIn(value: Json): JsonObject | null {
  return SCHEMA_NAMES.map((name) => memberOf(value, name)).find(isObject) ?? null;
}

/** What `e`, `a` and the rest mean for an action that does not allow them: null. */
export function allows(action: Action, kind: DecisionKind): boolean {
  return action.allowed.includes(kind);
}

/** @throws {Error} when there is not one decision for each action (DI1). */
export function answerOf(request: Request & { readonly kind: "actions" }, decisions: readonly Decision[]): Json {
  const { dialect, actions } = request;
  if (decisions.length !== actions.length) throw new Error(`${actions.length} actions need as many decisions`);
  const pairs = actions.map((action, at) => [action, decisions[at] as Decision] as const);
  if (dialect === "human_interrupt") return pairs.map(([action, decision]) => humanResponse(action, decision));
  const edited = dialect === "hitl" ? "edited_action" : "editedAction";
  return { decisions: pairs.map(([action, decision]) => middlewareDecision(action, decision, edited)) };
}

/** An approval carries the action too, as Agent Inbox sends it: some graphs read it from there. */
function humanResponse({ name, args }: Action, decision: Decision): JsonObject {
  switch (decision.type) {
    case "approve":
      return { type: "accept", args: { action: name, args } };
    case "edit":
      return { type: "edit", args: { action: name, args: decision.args } };
    case "ignore":
      return { type: "ignore", args: null };
    case "reject":
    case "respond":
      return { type: "response", args: decision.message };
    default:
      return decision satisfies never;
  }
}

function middlewareDecision({ name }: Action, decision: Decision, edited: string): JsonObject {
  switch (decision.type) {
    case "approve":
    case "ignore":
      return { type: decision.type };
    case "edit":
      return { type: "edit", [edited]: { name, args: decision.args } };
    case "reject":
      return decision.message === "" ? { type: "reject" } : { type: "reject", message: decision.message };
    case "respond":
      return { type: "respond", message: decision.message };
    default:
      return decision satisfies never;
  }
}

/** All of them approved; null when one cannot be. */
export function approvalOf(request: Request): Json | null {
  if (request.kind !== "actions" || !request.actions.every((action) => allows(action, "approve"))) return null;
  return answerOf(
    request,
    request.actions.map(() => ({ type: "approve" })),
  );
}
