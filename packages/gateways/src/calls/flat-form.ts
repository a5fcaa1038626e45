// Flat form: an item of the inbox as a form of primitive fields, and the filled form as the answer to the item. The
// schemas are those of MCP elicitation; A2A's data parts use the same forms.
// Invariants:
//   - The answer comes from the dialects, as in the inbox: the graph sees no difference.
//   - An answer that does not fit a flat form gets none, instead of a form that loses a part of it.
import {
  answerAll,
  buildAnswer,
  type Action,
  type Built,
  type Decision,
  recognise,
  type Question,
} from "@holdpoint/api/dialects.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export interface FlatForm {
  /** Text of the request, Markdown from the graph at most. */
  readonly message: string;
  readonly schema: { readonly type: "object"; readonly properties: JsonObject; readonly required: readonly string[] };
}

/** `resume` is undefined for a breakpoint, which only continues. */
export type FormAnswer =
  | { readonly ok: true; readonly resume: Json | undefined }
  | { readonly ok: false; readonly reason: string };

type Item = Pick<InboxItem, "kind" | "node" | "title" | "value" | "response_schema">;

const MESSAGE_UNITS_MAX = 4000;
const ACTIONS_MAX = 10;

/** Null if the item needs more than a flat form. */
export function buildForm(item: Item): FlatForm | null {
  if (item.kind === "breakpoint") {
    const decision = { type: "string", title: "Decision", enum: ["continue"], default: "continue" };
    return { message: `Paused before or after: ${item.node}. Continue?`, schema: object({ decision }, ["decision"]) };
  }
  const asked = readQuestion(item);
  if (asked.actions.length > 0) return approvalForm(asked);
  const message = formatQuestion(asked, item.value);
  if (asked.schema === null)
    return { message, schema: object({ answer: { type: "string", title: "Answer" } }, ["answer"]) };
  const flat = flatObject(asked.schema);
  if (flat !== null) return { message, schema: flat };
  const field = toFlatField(asked.schema);
  return field === null ? null : { message, schema: object({ answer: field }, ["answer"]) };
}

/** The answer that the filled form means. */
export function readFormAnswer(item: Item, content: JsonObject): FormAnswer {
  if (item.kind === "breakpoint") return { ok: true, resume: undefined };
  const asked = readQuestion(item);
  if (asked.actions.length > 0) return built(approvalAnswer(asked, content));
  const isWhole = asked.schema !== null && flatObject(asked.schema) !== null;
  const value = isWhole ? content : content["answer"];
  if (value === undefined) return { ok: false, reason: "The field `answer` is missing." };
  return built(answerAll(asked, { type: "respond", value }));
}

function readQuestion(item: Item): Question {
  return recognise(item.value, item.response_schema ?? null);
}

function built(answer: Built): FormAnswer {
  return answer.ok ? { ok: true, resume: answer.value } : { ok: false, reason: answer.reason };
}

// ── Approvals: one decision an action

function approvalForm(asked: Question): FlatForm | null {
  if (asked.actions.length > ACTIONS_MAX) return null;
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  for (const [index, action] of asked.actions.entries()) {
    if (action.allowed.length === 0) return null;
    const name = (field: string): string => fieldName(asked, index, field);
    const title = asked.actions.length === 1 ? "" : `${index + 1}. ${action.name ?? "action"}: `;
    properties[name("decision")] = { type: "string", title: `${title}Decision`, enum: [...action.allowed] };
    required.push(name("decision"));
    if (action.allowed.includes("edit"))
      properties[name("arguments")] = {
        type: "string",
        title: `${title}Arguments`,
        description: "JSON, used with the decision `edit`.",
        default: JSON.stringify(action.args),
      };
    if (action.allowed.includes("reject") || action.allowed.includes("respond"))
      properties[name("message")] = { type: "string", title: `${title}Message`, description: "Reason or reply." };
  }
  const lines = asked.actions.map((action) => actionText(action));
  return { message: cut(lines.join("\n\n")), schema: object(properties, required) };
}

function approvalAnswer(asked: Question, content: JsonObject): Built {
  const decisions: Decision[] = [];
  for (const index of asked.actions.keys()) {
    const decision = readDecision((field) => content[fieldName(asked, index, field)]);
    if ("reason" in decision) return { ok: false, reason: decision.reason };
    decisions.push(decision);
  }
  return buildAnswer(asked, decisions);
}

function readDecision(field: (name: string) => Json | undefined): Decision | { readonly reason: string } {
  const [type, message] = [field("decision"), field("message")];
  const text = typeof message === "string" && message !== "" ? message : undefined;
  if (type === "approve" || type === "ignore") return { type };
  if (type === "reject") return text === undefined ? { type } : { type, message: text };
  if (type === "edit") return edited(field("arguments"));
  if (type !== "respond") return { reason: "The field `decision` must name one of the choices." };
  return text === undefined ? { reason: "The decision `respond` requires a message." } : { type, value: text };
}

function edited(text: Json | undefined): Decision | { readonly reason: string } {
  try {
    const args = typeof text === "string" ? (JSON.parse(text) as Json) : null;
    if (isJsonObject(args)) return { type: "edit", args };
  } catch {
    // refused below
  }
  return { reason: "The field `arguments` must be a JSON object." };
}

function fieldName({ actions }: Question, index: number, field: string): string {
  return actions.length === 1 ? field : `${field}_${index + 1}`;
}

function actionText({ name, args, description }: Action): string {
  return visible(`${name ?? "Action"}: ${JSON.stringify(args)}${description === null ? "" : `\n${description}`}`);
}

function formatQuestion({ title, description }: Question, value: Json): string {
  const text = typeof value === "string" ? value : title;
  return cut(visible(description === null ? text : `${text}\n\n${description}`));
}

function cut(text: string): string {
  return text.length <= MESSAGE_UNITS_MAX ? text : `${text.slice(0, MESSAGE_UNITS_MAX)}…`;
}

// ── Schemas: the subset that clients can show

function object(properties: JsonObject, required: readonly string[]): FlatForm["schema"] {
  return { type: "object", properties, required };
}

/** Null unless every property is a primitive. */
function flatObject(schema: JsonObject): FlatForm["schema"] | null {
  const { type, properties, required } = schema;
  if (type !== "object" || !isJsonObject(properties)) return null;
  const fields: Record<string, Json> = {};
  for (const [name, property] of Object.entries(properties)) {
    const field = toFlatField(property);
    if (field === null) return null;
    fields[name] = field;
  }
  if (Object.keys(fields).length === 0) return null;
  return object(fields, Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
}

const FORMATS: readonly Json[] = ["email", "uri", "date", "date-time"];
const KEPT = ["title", "description", "default", "minimum", "maximum", "minLength", "maxLength"];

function toFlatField(schema: Json): JsonObject | null {
  if (!isJsonObject(schema)) return null;
  const { type, format } = schema;
  const kept = Object.fromEntries(Object.entries(schema).filter(([name]) => KEPT.includes(name)));
  const choice = readChoice(schema, "oneOf");
  if (choice !== undefined) return choice === null ? null : { ...kept, type: "string", ...choice };
  if (type === "array") {
    const { items = null } = schema;
    const each = isJsonObject(items) ? readChoice(items, "anyOf") : null;
    return each === null || each === undefined ? null : { ...kept, type, items: { type: "string", ...each } };
  }
  if (type === "string")
    return { ...kept, type, ...(FORMATS.includes(format ?? null) ? { format: format as Json } : {}) };
  return type === "number" || type === "integer" || type === "boolean" ? { ...kept, type } : null;
}

const isText = (value: Json | undefined): value is string => typeof value === "string";

/**
 * A choice between texts, with their titles if it has some. Undefined for another schema, null for other choices.
 * @param titled the member that holds titled choices: `oneOf` of one choice, `anyOf` of several
 */
function readChoice(schema: JsonObject, titled: "oneOf" | "anyOf"): JsonObject | null | undefined {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    if (!values.every(isText)) return null;
    const isNamed = Array.isArray(names) && names.length === values.length && names.every(isText);
    return { enum: values, ...(isNamed ? { enumNames: names } : {}) };
  }
  const choices = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(choices)) return undefined;
  const listed = choices.flatMap((choice) => {
    const { const: value, title = value } = isJsonObject(choice) ? choice : {};
    return isText(value) && isText(title) ? [{ const: value, title }] : [];
  });
  return listed.length === choices.length ? { [titled]: listed } : null;
}
