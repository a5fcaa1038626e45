// Dialects: the formats in which graphs ask people and expect answers. An interrupt payload (the argument of
// interrupt()) → the request; a person's decisions → the answer in the format and case of the payload.
// Pure, and runs in browsers: the inbox, the console and the command line all use it.
// Invariants:
//   dialects.1. Any JSON parses: a payload outside all dialects is a plain question, and missing members allow.
//   dialects.2. An answer has one decision per action, in their order, in the terms of the dialect.
//   dialects.3. A person's input is passed through unchanged: no value changes its type.
//   dialects.4. A decision that the interrupt does not allow yields a reason instead of an answer.
//   dialects.5. Several reviews of one action restrict each other: the decisions that all of them allow, or a rejection
//     alone if there are none, and arguments that fit each schema.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { SCHEMA_KEYS } from "./text/payload-content.ts";
import { actionTitle, readDescription, readMember, readPayloadText, chooseTitle, short } from "./text/payload-text.ts";

/**
 * | dialect | the payload is | the answer is |
 * | --- | --- | --- |
 * | `human_interrupt` | `[{action_request: {action, args}, config, description}]`, or one such object | `[{type, args}]` |
 * | `hitl` | `{action_requests: [{name, args}], review_configs}` | `{decisions: [{type, edited_action?}]}` |
 * | `hitl_camel` | `{actionRequests: [{name, args}], reviewConfigs}` | `{decisions: [{type, editedAction?}]}` |
 * | `json_schema` | anything that brings a JSON Schema for its answer | a value that matches the schema |
 * | `plain` | anything else | any JSON |
 */
export type Dialect = "human_interrupt" | "hitl" | "hitl_camel" | "json_schema" | "plain";

export type DecisionType = "approve" | "edit" | "reject" | "respond" | "ignore";

/** `respond` is a message if actions are pending approval, and the answer itself for a question. */
export type Decision =
  | { readonly type: "approve" | "ignore" }
  | { readonly type: "edit"; readonly args: Json }
  | { readonly type: "reject"; readonly message?: string }
  | { readonly type: "respond"; readonly value: Json };

export interface Action {
  readonly name: string | null;
  readonly args: Json;
  /** Markdown from the graph: untrusted. Null if it only repeats name and arguments. */
  readonly description: string | null;
  readonly allowed: readonly DecisionType[];
  /** Allowed kinds of decisions that only the graph knows. */
  readonly ownKinds: readonly string[];
  /** JSON Schema of `args`. */
  readonly argsSchema: JsonObject | null;
}

export interface Question {
  readonly kind: "tool_approval" | "form" | "question";
  readonly dialect: Dialect;
  /** One line, at most 200 units. */
  readonly title: string;
  readonly description: string | null;
  /** Actions pending approval; empty for a question. */
  readonly actions: readonly Action[];
  /** Decisions on the interrupt as a whole: for all its actions, or with a plain answer. */
  readonly allowed: readonly DecisionType[];
  /** JSON Schema of the answer. */
  readonly schema: JsonObject | null;
}

export type Built = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly reason: string };

/** @param responseSchema the interrupt's own schema beside its payload */
export function recognise(value: Json, responseSchema: JsonObject | null): Question {
  const schema = responseSchema !== null && isUndeclared(responseSchema) ? null : responseSchema;
  const found = humanInterrupt(value, schema) ?? middleware(value, schema) ?? question(value, schema);
  const title = responseSchema?.[TITLE_KEY];
  return typeof title === "string" ? { ...found, title: short(title) } : found;
}

/** Member of a response schema with the title of its question. */
const TITLE_KEY = "x-holdpoint-title";

/** The schema carries rules of the question, and says nothing of its answer. */
function isUndeclared(schema: JsonObject): boolean {
  const names = Object.keys(schema);
  return names.length > 0 && names.every((name) => name.startsWith("x-holdpoint-"));
}

/**
 * One decision per action, or one for a question without actions.
 * Any other number is an error: middleware would throw at it, and the interrupt would be lost.
 */
export function buildAnswer(asked: Question, decisions: readonly Decision[]): Built {
  const wanted = Math.max(1, asked.actions.length);
  if (decisions.length !== wanted) return refused(`${decisions.length} decisions, but the question expects ${wanted}`); // dialects.2
  if (asked.actions.length === 0) return plainAnswer(asked, decisions[0] as Decision);
  const answers: Json[] = [];
  for (const [index, action] of asked.actions.entries()) {
    const decision = decisions[index] as Decision;
    if (!action.allowed.includes(decision.type)) return refused(notAllowed(decision, action.allowed, action.name)); // dialects.4
    const built =
      asked.dialect === "human_interrupt" ? humanResponse(action, decision) : verdict(asked, action, decision);
    if (!built.ok) return built;
    answers.push(built.value);
  }
  return accepted(asked.dialect === "human_interrupt" ? answers : { decisions: answers });
}

/** The same decision for every action. */
export function answerAll(asked: Question, decision: Decision): Built {
  return buildAnswer(asked, asked.actions.length === 0 ? [decision] : asked.actions.map(() => decision));
}

// ── HumanInterrupt, the format of Agent Inbox

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
    const request = readMember(one, "action_request");
    if (!isJsonObject(request)) return null;
    const name = readPayloadText(request["action"]);
    const description = readPayloadText(readMember(one, "description"));
    const allowed = flagged(readMember(one, "config"));
    actions.push({ name, args: readArgs(request), description, allowed, ownKinds: [], argsSchema: schemaIn(one) });
  }
  return approval("human_interrupt", actions, schema);
}

/** Without any flags everything is allowed; a single missing flag does not allow (dialects.1). */
function flagged(config: Json): readonly DecisionType[] {
  const set = FLAGS.filter(([flag]) => typeof readMember(config, flag) === "boolean");
  const allowed: DecisionType[] = FLAGS.filter(([flag]) => set.length === 0 || readMember(config, flag) === true).map(
    ([, type]) => type,
  );
  // The format has no reject type: a rejection is a response with the reason, or an ignore.
  return allowed.includes("respond") || allowed.includes("ignore") ? [...allowed, "reject"] : allowed;
}

function humanResponse({ name, args, allowed }: Action, decision: Decision): Built {
  const request = { action: name ?? "", args };
  switch (decision.type) {
    case "approve": // editable requests read the arguments of either type; others receive none
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
      if (message !== undefined) return refused("this question accepts no message: it can only be ignored");
      if (allowed.includes("ignore")) return accepted({ type: "ignore", args: null });
      return refused("a message is required: this question accepts a rejection only as a message");
    }
    default:
      return decision satisfies never;
  }
}

// ── Human-in-the-loop middleware, in Python or JavaScript case

function middleware(value: Json, schema: JsonObject | null): Question | null {
  for (const [dialect, key] of [
    ["hitl", "action_requests"],
    ["hitl_camel", "actionRequests"],
  ] as const) {
    const requests = readMember(value, key);
    if (!Array.isArray(requests) || requests.length === 0) continue;
    const findReviews = reviews(value);
    const actions = (requests as readonly Json[]).map((request, index) => reviewed(request, index, findReviews));
    return approval(dialect, actions, schema);
  }
  return null;
}

type FindReviews = (name: string | null, index: number) => readonly Json[];

/** Reviews belong to the actions of the same name; a nameless review belongs to the action at its index. */
function reviews(value: Json): FindReviews {
  const lists = listsIn(value, ["review_configs", "reviewConfigs"]);
  return (name, index) =>
    lists.flatMap((list) =>
      list.filter((review, at) => {
        const owner = either(review, "action_name", "actionName");
        return owner === null ? at === index : owner === name;
      }),
    );
}

function listsIn(value: Json, names: readonly string[]): readonly (readonly Json[])[] {
  return names.map((name) => readMember(value, name)).filter((list): list is readonly Json[] => Array.isArray(list));
}

const DEFAULT_DECISIONS: readonly Json[] = ["approve", "edit", "reject"];

/** dialects.5. */
function readDecisions(found: readonly Json[]): readonly Json[] {
  const lists = found.flatMap((review) => {
    const decisions = listsIn(review, ["allowed_decisions", "allowedDecisions"]);
    return decisions.length === 0 ? [DEFAULT_DECISIONS] : decisions; // dialects.1
  });
  const [first = DEFAULT_DECISIONS, ...others] = lists;
  if (others.length === 0) return first;
  const common = first.filter((type) => others.every((list) => list.includes(type)));
  return common.length === 0 ? ["reject"] : common;
}

/** dialects.5. */
function readArgsSchema(found: readonly Json[]): JsonObject | null {
  const schemas = found.map(schemaIn).filter((schema) => schema !== null);
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [first = null, ...others] = different;
  return others.length === 0 ? first : { allOf: different };
}

function reviewed(request: Json, index: number, findReviews: FindReviews): Action {
  const name = readPayloadText(readMember(request, "name")) ?? readPayloadText(readMember(request, "action"));
  const found = findReviews(name, index);
  const known: readonly Json[] = ["approve", "edit", "reject", "respond"] satisfies DecisionType[];
  const given = readDecisions(found);
  return {
    name,
    args: readArgs(request),
    description: readPayloadText(readMember(request, "description")),
    allowed: given.filter((type): type is DecisionType => known.includes(type)),
    ownKinds: given.filter((type): type is string => typeof type === "string" && !known.includes(type)),
    argsSchema: readArgsSchema(found) ?? schemaIn(request),
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
  const title = actionTitle(actions);
  const described = actions.map((action) => ({ ...action, description: readDescription(action) }));
  const description = described[0]?.description ?? null;
  return { kind: "tool_approval", dialect, title, description, actions: described, allowed, schema };
}

// ── Questions: the graph expects a value, optionally described by a schema

function question(value: Json, responseSchema: JsonObject | null): Question {
  const schema = responseSchema ?? schemaIn(value);
  const [kind, dialect] = schema === null ? (["question", "plain"] as const) : (["form", "json_schema"] as const);
  const description = readPayloadText(readMember(value, "description"));
  const allowed: DecisionType[] = schema !== null && yesOrNo(schema) ? ["respond", "approve", "reject"] : ["respond"];
  return { kind, dialect, title: chooseTitle(value), description, actions: [], allowed, schema };
}

function schemaIn(value: Json): JsonObject | null {
  return SCHEMA_KEYS.map((key) => readMember(value, key)).find(isJsonObject) ?? null;
}

/** Only a boolean schema defines approval; the others get no guess. */
function yesOrNo(schema: JsonObject): boolean {
  return schema["type"] === "boolean";
}

function plainAnswer({ allowed }: Question, decision: Decision): Built {
  if (!allowed.includes(decision.type)) return refused(notAllowed(decision, allowed, null)); // dialects.4
  if (decision.type === "respond") return accepted(decision.value);
  if (decision.type === "reject" && decision.message !== undefined)
    return refused("this question accepts no message: its answer is true or false");
  return accepted(decision.type === "approve");
}

function notAllowed({ type }: Decision, allowed: readonly DecisionType[], name: string | null): string {
  const what = name === null ? "this question" : `"${name}"`;
  if (allowed.length === 0) return `${what} allows no decision; answer it with a value`;
  return `${what} does not allow "${type}", only ${allowed.join(", ")}`;
}

/** Some graphs write `arguments`, as model APIs do. */
function readArgs(request: Json): Json {
  return either(request, "args", "arguments") ?? {};
}

function either(value: Json, one: string, other: string): Json {
  return readMember(value, one) ?? readMember(value, other);
}

const accepted = (value: Json): Built => ({ ok: true, value });
const refused = (reason: string): Built => ({ ok: false, reason });
