// Graph input: the input of a graph according to its JSON Schema, and an initial example. Pure.

type Schema = Readonly<Record<string, unknown>>;
const DEPTH_MAX = 6;
const MEMBERS_MAX = 30;

/** The graph has messages and accepts a single message as input. */
export function takesMessages(schema: unknown): boolean {
  const properties = toSchema(toSchema(schema)?.["properties"]);
  const required = toSchema(schema)?.["required"];
  const others = Array.isArray(required) ? required.filter((name) => name !== "messages") : [];
  return properties?.["messages"] !== undefined && others.length === 0;
}

/** A value of the schema's shape; unspecified parts are null or empty. */
export function buildExample(schema: unknown, depth = 0): unknown {
  const one = toSchema(schema);
  if (one === undefined) return depth === 0 ? {} : null;
  for (const name of ["default", "const"]) if (name in one) return one[name];
  for (const name of ["examples", "enum", "anyOf", "oneOf", "allOf"]) {
    const list = one[name];
    if (!Array.isArray(list) || list.length === 0) continue;
    return name === "examples" || name === "enum" ? list[0] : buildExample(list[0], depth + 1);
  }
  const properties = toSchema(one["properties"]);
  if (properties !== undefined && depth < DEPTH_MAX) {
    const entries = Object.entries(properties).slice(0, MEMBERS_MAX);
    return Object.fromEntries(
      entries.map(([name, member]) => [name, isMessages(member) ? MESSAGES : buildExample(member, depth + 1)]),
    );
  }
  return depth === 0 ? {} : buildEmpty(one["type"]);
}

const MESSAGES: unknown = [{ role: "user", content: "" }];

const isMessages = (member: unknown): boolean => toSchema(member)?.["langgraph_type"] === "messages";

function buildEmpty(type: unknown): unknown {
  const first: unknown = Array.isArray(type) ? type[0] : type;
  if (first === "string") return "";
  if (first === "number" || first === "integer") return 0;
  if (first === "boolean") return false;
  if (first === "array") return [];
  return first === "object" ? {} : null;
}

function toSchema(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}
