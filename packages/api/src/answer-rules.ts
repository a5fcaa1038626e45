// Answer rules: the JSON Schema of the answers to a payload of a known dialect. Pure.
// Invariants:
//   answer-rules.1. An answer has one decision per action, of a kind that the action allows. An edit keeps the action's
//     name and fits the schema of its arguments; a response has a text.
//   answer-rules.2. Arguments of an acceptance are an edit: without the right to edit they are those of the request.
//   answer-rules.4. Clients send an edit in both spellings: it is the same rule for either, and only an edit has one.
//   answer-rules.3. Every answer that the clients of the dialect build from the payload fits.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { type Action, type DecisionType, type Dialect, recognise } from "./dialects.ts";

/** @returns null for a plain question, and for actions that allow no decision */
export function deriveAnswerSchema(payload: Json): JsonObject | null {
  const { actions, dialect, schema } = recognise(payload, null);
  if (actions.length === 0) return schema;
  const decisions = actions.map((action) => decisionSchemas(dialect, action));
  if (decisions.some(({ length }) => length === 0)) return null;
  const list = listSchema(decisions.map(anyOf));
  if (dialect !== "human_interrupt") return object({ decisions: list }, ["decisions"]);
  return Array.isArray(payload) ? list : anyOf([list, ...(decisions[0] ?? [])]); // graphs read a bare one as either
}

function listSchema(each: readonly JsonObject[]): JsonObject {
  const [only, ...others] = each;
  const count = { type: "array", minItems: each.length, maxItems: each.length };
  return others.length === 0 ? { ...count, items: only ?? {} } : { ...count, prefixItems: each };
}

function decisionSchemas(dialect: Dialect, action: Action): readonly JsonObject[] {
  const write = dialect === "human_interrupt" ? humanResponse : verdict(dialect);
  const known = action.allowed.map((type) => write(type, action)).filter((schema) => schema !== null);
  return [...known, ...action.ownKinds.map((type) => decision(type, {}))];
}

type Write = (type: DecisionType, action: Action) => JsonObject | null;

const TEXT = { type: "string", minLength: 1 };

/** answer-rules.4. */
const spellings = (schema: JsonObject): JsonObject => ({ edited_action: schema, editedAction: schema });
const NO_EDIT = spellings({ type: "null" });

function verdict(dialect: Dialect): Write {
  const edited = dialect === "hitl" ? "edited_action" : "editedAction";
  return (type, action) => {
    if (type === "edit") return decision(type, spellings(requestSchema("name", action)), [edited]);
    if (type === "reject") return decision(type, { message: { type: "string" }, ...NO_EDIT });
    return type === "respond"
      ? decision(type, { message: TEXT, ...NO_EDIT }, ["message"])
      : decision(type, { ...NO_EDIT });
  };
}

const humanResponse: Write = (type, action) => {
  if (type === "approve") return decision("accept", { args: acceptedArgs(action) });
  if (type === "edit") return decision(type, { args: requestSchema("action", action) }, ["args"]);
  if (type === "respond") return decision("response", { args: TEXT }, ["args"]);
  return type === "ignore" ? decision(type, { args: { type: "null" } }) : null; // the dialect has no type for a rejection
};

/** answer-rules.2. Agent inboxes send the arguments of an unchanged request with every value as a text. */
function acceptedArgs(action: Action): JsonObject {
  const { name, args, allowed, argsSchema } = action;
  const none = { type: "null" };
  const request = { action: name ?? "", args };
  if (!allowed.includes("edit")) return anyOf([none, { const: request }]);
  const edited = requestSchema("action", action);
  return anyOf(argsSchema === null ? [none, edited] : [none, edited, { const: { ...request, args: asTexts(args) } }]);
}

function asTexts(args: Json): Json {
  if (!isJsonObject(args)) return args;
  const text = (value: Json): Json => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, text(value)]));
}

function requestSchema(nameKey: "name" | "action", { name, argsSchema }: Action): JsonObject {
  const properties = { [nameKey]: name === null ? { type: "string" } : { const: name } };
  return object({ ...properties, args: argsSchema ?? { type: "object" } }, [nameKey, "args"]);
}

function decision(type: string, properties: JsonObject, required: readonly string[] = []): JsonObject {
  return object({ type: { const: type }, ...properties }, ["type", ...required]);
}

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required };
}

function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const [only, ...others] = schemas;
  return only !== undefined && others.length === 0 ? only : { anyOf: schemas };
}
