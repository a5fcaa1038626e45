// Payload kind: what a question asks a person for, told from the value that its node gave to interrupt(). Pure.
// Graphs say it in different ways ("dialects"); an answer has to come in the dialect of its question.
// Invariants:
//   PK1. Any JSON is understood: what fits no dialect is a plain question.
//   PK2. What is said of a payload is short, however long the payload is.
import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import type { InterruptKind } from "./model.ts";

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

export interface PayloadSummary {
  readonly kind: Exclude<InterruptKind, "breakpoint">;
  readonly dialect: Dialect;
  /** One line for a list, at most TITLE_UNITS_MAX units. */
  readonly title: string;
  /** Name of the first action that waits for approval. */
  readonly action: string | null;
  /** How many actions wait for approval; 0 when it is no such question. */
  readonly actions: number;
}

const TITLE_UNITS_MAX = 200;

export function summarise(value: Json, responseSchema: JsonObject | null): PayloadSummary {
  return humanInterrupt(value) ?? middleware(value) ?? question(value, responseSchema);
}

function humanInterrupt(value: Json): PayloadSummary | null {
  const requests = (Array.isArray(value) ? (value as readonly Json[]) : [value]).map((one) =>
    isJsonObject(one) && isJsonObject(one["action_request"]) ? one : null,
  );
  const [first] = requests;
  if (first === undefined || first === null || requests.includes(null)) return null;
  const request = first["action_request"] as JsonObject;
  return approval("human_interrupt", requests.length, textOf(request["action"]), textOf(first["description"]));
}

function middleware(value: Json): PayloadSummary | null {
  if (!isJsonObject(value)) return null;
  for (const [dialect, key] of [
    ["hitl", "action_requests"],
    ["hitl_camel", "actionRequests"],
  ] as const) {
    const requests = value[key];
    if (!Array.isArray(requests) || requests.length === 0) continue;
    const first: unknown = requests[0];
    const { name = null, action = null, description = null }: JsonObject = isJsonObject(first) ? first : {};
    return approval(dialect, requests.length, textOf(name) ?? textOf(action), textOf(description));
  }
  return null;
}

function approval(dialect: Dialect, actions: number, name: string | null, description: string | null): PayloadSummary {
  const said = [name, description].filter((text) => text !== null).map(firstLine);
  const title = short(said.join(": ") || "an action");
  return { kind: "tool_approval", dialect, title, action: name === null ? null : short(name), actions };
}

function question(value: Json, responseSchema: JsonObject | null): PayloadSummary {
  const schema = responseSchema ?? SCHEMA_KEYS.map((key) => memberOf(value, key)).find(isJsonObject) ?? null;
  const [kind, dialect] = schema === null ? (["question", "plain"] as const) : (["form", "json_schema"] as const);
  return { kind, dialect, title: short(titleOf(value)), action: null, actions: 0 };
}

/** Where payloads carry the JSON Schema of their answer. */
const SCHEMA_KEYS = [
  "response_schema",
  "responseSchema",
  "args_schema",
  "argsSchema",
  "json_schema",
  "schema",
] as const;

/** Members that say in words what is asked, the best first. */
const TITLE_KEYS = ["question", "title", "message", "prompt", "description", "text", "task", "action"] as const;

function titleOf(value: Json): string {
  if (typeof value === "string") return firstLine(value);
  for (const key of TITLE_KEYS) {
    const text = textOf(memberOf(value, key));
    if (text !== null) return firstLine(text);
  }
  return glance(value);
}

/** JSON text of a value, given up on where it gets long (PK2). */
function glance(value: Json): string {
  if (typeof value === "string") return short(JSON.stringify(short(value)));
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return short(`[${(value as readonly Json[]).slice(0, 5).map(glance).join(", ")}]`);
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (members.length === 5) break;
    members.push(`${short(key)}: ${typeof member === "object" && member !== null ? "…" : glance(member)}`);
  }
  return short(members.join(", "));
}

function memberOf(value: Json, key: string): Json {
  return isJsonObject(value) && Object.hasOwn(value, key) ? (value[key] ?? null) : null;
}

function textOf(value: Json | undefined): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

function firstLine(text: string): string {
  return (
    text
      .slice(0, 10 * TITLE_UNITS_MAX)
      .trim()
      .split(/[\r\n]/, 1)[0] ?? ""
  );
}

function short(text: string): string {
  return text.length <= TITLE_UNITS_MAX ? text : `${text.slice(0, TITLE_UNITS_MAX - 1).toWellFormed()}…`;
}
