// Dialects: the ways in which graphs ask people, and how each wants to be answered. A payload (what a node gave to
// interrupt()) → what it asks for; a person's decisions → the answer in the shape and the case of the question.
// Pure, and runs in browsers: the inbox, the console and the command line all ask here.
// Invariants:
//   D1. Any JSON is understood: what fits no dialect is a plain question, and members that are missing allow.
//   D2. An answer has one decision for each action, in their order, in the dialect's own words.
//   D3. What a person gave is passed on as it is: no value changes its type.
//   D4. What the question does not allow is no answer, but a reason in words.
import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import { actionTitle, memberOf, textOf, titleOf } from "./payload-text.ts";

/**
 * | dialect | the payload is | the answer is |
 * | --- | --- | --- |
 * | `human_interrupt` | `[{action_request: {action, args}, config, description}]`, or one such object | `[{type, args}]` |
 * | `hitl` | `{action_requests: [{name, args}], review_configs}` | `{decisions: [{type, edited_action?}]}` |
 * | `hitl_camel` | `{actionRequests: [{name, args}], reviewConfigs}` | `{decisions: [{type, editedAction?}]}` |
 * | `json_schema` | anything that brings a JSON Schema for its answer | what fits the schema |
 * | `plain` | anything else | any JSON |
 */
export type Dialect = "human_interrupt" | "hitl" | "hitl_camel" | "json_schema" | "plain";

export type DecisionType = "approve" | "edit" | "reject" | "respond" | "ignore";

/** `respond` is a message where actions wait for approval, and the answer itself where a question is asked. */
export type Decision =
  | { readonly type: "approve" | "ignore" }
  | { readonly type: "edit"; readonly args: Json }
  | { readonly type: "reject"; readonly message?: string }
  | { readonly type: "respond"; readonly value: Json };

export interface Action {
  readonly name: string | null;
  readonly args: Json;
  /** Markdown of the graph's: not to be trusted. */
  readonly description: string | null;
  readonly allowed: readonly DecisionType[];
  /** JSON Schema of `args`. */
  readonly argsSchema: JsonObject | null;
}

export interface Question {
  readonly kind: "tool_approval" | "form" | "question";
  readonly dialect: Dialect;
  /** One line, at most 200 units. */
  readonly title: string;
  readonly description: string | null;
  /** What waits for approval; empty when it is no such question. */
  readonly actions: readonly Action[];
  /** What may be said to the question as a whole: of all its actions, or with a plain answer. */
  readonly allowed: readonly DecisionType[];
  /** JSON Schema of the answer. */
  readonly schema: JsonObject | null;
}

export type Built = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly reason: string };

/** @param responseSchema as the interrupt has it beside its payload */
export function recognise(value: Json, responseSchema: JsonObject | null): Question {
  return humanInterrupt(value, responseSchema) ?? middleware(value, responseSchema) ?? question(value, responseSchema);
}

/**
 * One decision for each action, or one for a question that has none.
 * A number of decisions other than that is refused: middleware would throw at it, and the question would be gone.
 */
export function buildAnswer(asked: Question, decisions: readonly Decision[]): Built {
  const wanted = Math.max(1, asked.actions.length);
  if (decisions.length !== wanted)
    return refused(`${decisions.length} decisions were given, the question wants ${wanted}`); // D2
  if (asked.actions.length === 0) return plainAnswer(asked, decisions[0] as Decision);
  const said: Json[] = [];
  for (const [index, action] of asked.actions.entries()) {
    const decision = decisions[index] as Decision;
    if (!action.allowed.includes(decision.type)) return refused(notAllowed(decision, action.allowed, action.name)); // D4
    const built =
      asked.dialect === "human_interrupt" ? humanResponse(action, decision) : verdict(asked, action, decision);
    if (!built.ok) return built;
    said.push(built.value);
  }
  return accepted(asked.dialect === "human_interrupt" ? said : { decisions: said });
}

/** The same decision for every action. */
export function answerAll(asked: Question, decision: Decision): Built {
  return buildAnswer(asked, asked.actions.length === 0 ? [decision] : asked.actions.map(() => decision));
}

// ── HumanInterrupt, as Agent Inbox knows it

const FLAGS = [
  ["allow_accept", "approve"],
  ["allow_edit", "edit"],
  ["allow_respond", "respond"],
  ["allow_ignore", "ignore"],
] as const;

function humanInterrupt(value: Json, schema: JsonObject | null): Question | null {
  const requests = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const actions: Action[] = [];
  for (const one of requests) {
    const request = memberOf(one, "action_request");
    if (!isJsonObject(request)) return null;
    const name = textOf(request["action"]);
    const description = textOf(memberOf(one, "description"));
    const allowed = flagged(memberOf(one, "config"));
    actions.push({ name, args: argsOf(request), description, allowed, argsSchema: schemaIn(one) });
  }
  return approval("human_interrupt", actions, schema);
}

/** Flags that are not there at all allow everything; beside others, one that is missing does not allow (D1). */
function flagged(config: Json): readonly DecisionType[] {
  const set = FLAGS.filter(([flag]) => typeof memberOf(config, flag) === "boolean");
  const allowed: DecisionType[] = FLAGS.filter(([flag]) => set.length === 0 || memberOf(config, flag) === true).map(
    ([, type]) => type,
  );
  // There is no word for a refusal: it is a response that says so, or the request is ignored.
  return allowed.includes("respond") || allowed.includes("ignore") ? [...allowed, "reject"] : allowed;
}

function humanResponse({ name, args, allowed }: Action, decision: Decision): Built {
  const request = { action: name ?? "", args };
  switch (decision.type) {
    case "approve": // graphs that can be edited read the arguments of either; the others are sent none
      return accepted({ type: "accept", args: allowed.includes("edit") ? request : null });
    case "edit":
      return accepted({ type: "edit", args: { ...request, args: decision.args } });
    case "respond":
      return accepted({ type: "response", args: decision.value });
    case "ignore":
      return accepted({ type: "ignore", args: null });
    case "reject": {
      const { message } = decision;
      if (message !== undefined && allowed.includes("respond")) return accepted({ type: "response", args: message });
      if (message !== undefined) return refused("this question takes no message: it can only be ignored");
      if (allowed.includes("ignore")) return accepted({ type: "ignore", args: null });
      return refused("say why: this question takes a refusal as a message only");
    }
    default:
      return decision satisfies never;
  }
}

// ── Human-in-the-loop middleware, in the case of Python or of JavaScript

function middleware(value: Json, schema: JsonObject | null): Question | null {
  for (const [dialect, key] of [
    ["hitl", "action_requests"],
    ["hitl_camel", "actionRequests"],
  ] as const) {
    const requests = memberOf(value, key);
    if (!Array.isArray(requests) || requests.length === 0) continue;
    const reviewOf = reviews(either(value, "review_configs", "reviewConfigs"));
    const actions = (requests as readonly Json[]).map((request, index) => reviewed(request, index, reviewOf));
    return approval(dialect, actions, schema);
  }
  return null;
}

type ReviewOf = (name: string | null, index: number) => Json;

/** A review belongs to the action of its name, or, when it has none, to the one in its place. */
function reviews(value: Json): ReviewOf {
  const list = Array.isArray(value) ? (value as readonly Json[]) : [];
  const nameOf = (review: Json): Json => either(review, "action_name", "actionName");
  const named = new Map(list.map((review) => [nameOf(review), review]));
  return (name, index) => {
    const inPlace = list[index] ?? null;
    return (name === null ? undefined : named.get(name)) ?? (nameOf(inPlace) === null ? inPlace : null);
  };
}

function reviewed(request: Json, index: number, reviewOf: ReviewOf): Action {
  const name = textOf(memberOf(request, "name")) ?? textOf(memberOf(request, "action"));
  const review = reviewOf(name, index);
  const decisions = either(review, "allowed_decisions", "allowedDecisions");
  const known: readonly Json[] = ["approve", "edit", "reject", "respond"] satisfies DecisionType[];
  return {
    name,
    args: argsOf(request),
    description: textOf(memberOf(request, "description")),
    allowed: Array.isArray(decisions)
      ? (decisions as readonly Json[]).filter((type): type is DecisionType => known.includes(type))
      : ["approve", "edit", "reject"], // D1
    argsSchema: schemaIn(review) ?? schemaIn(request),
  };
}

function verdict({ dialect }: Question, { name }: Action, decision: Decision): Built {
  switch (decision.type) {
    case "approve":
    case "ignore":
      return accepted({ type: decision.type });
    case "edit": {
      const edited = { name: name ?? "", args: decision.args };
      return accepted({ type: "edit", [dialect === "hitl" ? "edited_action" : "editedAction"]: edited });
    }
    case "reject":
      return accepted({ type: "reject", ...(decision.message === undefined ? {} : { message: decision.message }) });
    case "respond":
      return accepted({ type: "respond", message: decision.value });
    default:
      return decision satisfies never;
  }
}

function approval(dialect: Dialect, actions: readonly Action[], schema: JsonObject | null): Question | null {
  const [first] = actions;
  if (first === undefined) return null;
  const allowed = first.allowed.filter((type) => actions.every((action) => action.allowed.includes(type)));
  const title = actionTitle(first.name, first.description);
  return { kind: "tool_approval", dialect, title, description: first.description, actions, allowed, schema };
}

// ── Questions: a value is wanted, which a schema may describe

/** Where payloads carry the JSON Schema of their answer. */
const SCHEMA_KEYS = [
  "response_schema",
  "responseSchema",
  "args_schema",
  "argsSchema",
  "json_schema",
  "schema",
] as const;

function question(value: Json, responseSchema: JsonObject | null): Question {
  const schema = responseSchema ?? schemaIn(value);
  const [kind, dialect] = schema === null ? (["question", "plain"] as const) : (["form", "json_schema"] as const);
  const description = textOf(memberOf(value, "description"));
  const allowed: DecisionType[] = schema !== null && yesOrNo(schema) ? ["respond", "approve", "reject"] : ["respond"];
  return { kind, dialect, title: titleOf(value), description, actions: [], allowed, schema };
}

function schemaIn(value: Json): JsonObject | null {
  return SCHEMA_KEYS.map((key) => memberOf(value, key)).find(isJsonObject) ?? null;
}

/** Only a schema that wants a yes or a no tells what approval is; nothing is guessed for the others. */
function yesOrNo(schema: JsonObject): boolean {
  return schema["type"] === "boolean";
}

function plainAnswer({ allowed }: Question, decision: Decision): Built {
  if (!allowed.includes(decision.type)) return refused(notAllowed(decision, allowed, null)); // D4
  if (decision.type === "respond") return accepted(decision.value);
  if (decision.type === "reject" && decision.message !== undefined)
    return refused("this question takes no message: its answer is true or false");
  return accepted(decision.type === "approve");
}

function notAllowed({ type }: Decision, allowed: readonly DecisionType[], name: string | null): string {
  const what = name === null ? "this question" : `"${name}"`;
  if (allowed.length === 0) return `${what} allows no decision; answer it with a value`;
  return `${what} does not allow "${type}", only ${allowed.join(", ")}`;
}

/** Some graphs write `arguments`, as model APIs do. */
function argsOf(request: Json): Json {
  return either(request, "args", "arguments") ?? {};
}

function either(value: Json, one: string, other: string): Json {
  return memberOf(value, one) ?? memberOf(value, other);
}

const accepted = (value: Json): Built => ({ ok: true, value });
const refused = (reason: string): Built => ({ ok: false, reason });
