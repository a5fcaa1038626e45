// Schema text: a JSON Schema → a short type notation, and a sample body. Pure.
// Invariant schema-text.1: recursive schemas terminate: a named schema shows its name, and sample bodies have a depth limit.

const DEPTH_MAX = 12;
const MADE_DEPTH_MAX = 3;
const REFERENCE = "#/components/schemas/";

/** `{"$ref": "#/components/schemas/Run"}` → `Run`; null for every other schema. */
export function nameOf(schema) {
  return typeof schema?.$ref === "string" && schema.$ref.startsWith(REFERENCE)
    ? schema.$ref.slice(REFERENCE.length)
    : null;
}

/** @returns `{ name: string, tags?: string[] }`, on several lines with the descriptions of the members */
export function schemaText(schema, indent = "", depth = 0) {
  if (schema === undefined || schema === true) return "any";
  if (schema === false) return "nothing";
  if (depth > DEPTH_MAX) return "…";
  const name = nameOf(schema);
  if (name !== null) return name;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    return [...new Set(choices.map((one) => schemaText(one, indent, depth + 1)))].join(" | ");
  }
  if (schema.allOf !== undefined) return schema.allOf.map((one) => schemaText(one, indent, depth + 1)).join(" & ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => schemaText({ ...schema, type }, indent, depth + 1)).join(" | ");
  }
  if (schema.prefixItems !== undefined) {
    return `[${schema.prefixItems.map((one) => schemaText(one, indent, depth + 1)).join(", ")}]`;
  }
  if (schema.type === "array") return listText(schemaText(schema.items, indent, depth + 1));
  if (schema.type === "object" || schema.properties !== undefined) return objectText(schema, indent, depth);
  return schema.type === undefined ? "any" : `${schema.type}${limitsText(schema)}`;
}

function listText(item) {
  return /[|&\n]/.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
}

function objectText({ properties = {}, required = [], additionalProperties }, indent, depth) {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, member]) => {
    const optional = required.includes(name) ? "" : "?";
    const says = member.description === undefined ? "" : `  // ${member.description}`;
    return `${inner}${name}${optional}: ${schemaText(member, inner, depth + 1)}${says}`;
  });
  const isOpen = typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0;
  if (isOpen) lines.push(`${inner}[name]: ${schemaText(additionalProperties, inner, depth + 1)}`);
  if (lines.length === 0) return "object";
  return `{\n${lines.join("\n")}\n${indent}}`;
}

/** `string, uuid`, `integer, 1 to 1000` */
function limitsText({ format, pattern, minimum, maximum, maxLength }) {
  if (format !== undefined) return `, ${format}`;
  const small = (limit) => typeof limit === "number" && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
  if (small(minimum) && small(maximum)) return `, ${minimum} to ${maximum}`;
  if (small(minimum)) return `, at least ${minimum}`;
  if (small(maximum)) return `, at most ${maximum}`;
  if (pattern !== undefined) return `, ${pattern}`;
  return maxLength === undefined ? "" : `, at most ${maxLength} characters`;
}

/** The smallest value with every required member. */
export function firstBody(schema, components, depth = 0) {
  const name = nameOf(schema);
  if (name !== null) return firstBody(components[name], components, depth + 1);
  if (schema === undefined || depth > MADE_DEPTH_MAX) return null;
  if ("const" in schema) return schema.const;
  if ("default" in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice !== undefined) return firstBody(choice, components, depth + 1);
  const { type, properties = {}, required = [] } = schema;
  if (type === "object" || schema.properties !== undefined) {
    return Object.fromEntries(required.map((member) => [member, firstBody(properties[member], components, depth + 1)]));
  }
  if (type === "array") return [];
  if (type === "string") return "";
  if (type === "integer" || type === "number") return schema.minimum > 0 ? schema.minimum : 0;
  return type === "boolean" ? false : null;
}
