// Schema: a JSON Schema → the fields of a form, its initial values, and the errors of a value. Pure. Covers only the
// needs of forms; the server validates the whole schema.
// Invariants:
//   schema.1. An untouched value stays unchanged, with its type.
//   schema.2. A part without its own control becomes a JSON field: a form omits nothing.
//   - An optional list or object is no fault while it is empty, whatever its own parts require.
//   - A fault says what is wanted in the words of the schema: of its description, not of its pattern.
import { isObject, readMember, sameJson, readJsonText, type Json, type JsonObject } from "./json.ts";
import { matches } from "./patterns.ts";
import { isDate, isZonedTime } from "./typed-input.ts";

export type Control =
  | "text"
  | "long_text"
  | "date"
  | "date_time"
  | "number"
  | "integer"
  | "boolean"
  | "choice"
  | "list"
  | "group"
  | "json";

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly description: string | null;
  readonly control: Control;
  readonly required: boolean;
  readonly nullable: boolean;
  readonly schema: JsonObject;
  /** For a choice. */
  readonly choices: readonly Json[];
  /** Members of a group; the item of a list. */
  readonly fields: readonly FormField[];
}

const DEPTH_MAX = 5;
const LONG_TEXT_UNITS = 80;

export function toField(schema: JsonObject): FormField {
  return field({ name: "", schema, required: true }, schema, 0);
}

interface Member {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

/** @param root the document that `$ref`s point into */
function field({ name, schema: given, required }: Member, root: JsonObject, depth: number): FormField {
  const { schema, nullable } = plain(resolve(given, root), root);
  const own = (member: string): string | null => readJsonText(given[member]) ?? readJsonText(schema[member]);
  const base = {
    name,
    label: own("title") ?? name,
    description: own("description"),
    required,
    nullable,
    schema,
    choices: [],
    fields: [],
  };
  const choices = listChoices(schema, root);
  if (choices !== null) return { ...base, control: "choice", choices };
  const control = chooseControl(schema);
  if (control === "group" && depth < DEPTH_MAX) {
    const fields = listMembers(schema).map((member) => field(member, root, depth + 1));
    return { ...base, control, fields };
  }
  if (control === "list" && depth < DEPTH_MAX) {
    const items = readMember(schema, "items") as JsonObject;
    const item = field({ name: "", schema: items, required: true }, root, depth + 1);
    if (item.control !== "json" && item.control !== "list") return { ...base, control, fields: [item] };
  }
  return { ...base, control: control === "group" || control === "list" ? "json" : control }; // schema.2
}

/** Follows `$ref`s within the document. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  let current = schema;
  for (let hops = 0; hops < DEPTH_MAX && typeof current["$ref"] === "string"; hops++) {
    const path = current["$ref"].startsWith("#/") ? current["$ref"].slice(2).split("/") : null;
    const target = path?.reduce<Json>(
      (at, key) => readMember(at, key.replaceAll("~1", "/").replaceAll("~0", "~")),
      root,
    );
    if (!isObject(target)) return {};
    current = target;
  }
  return current;
}

/** `anyOf: [X, null]` and `type: ["x", "null"]` → X, nullable. */
function plain(schema: JsonObject, root: JsonObject): { readonly schema: JsonObject; readonly nullable: boolean } {
  const { type } = schema;
  if (Array.isArray(type)) {
    const others = (type as readonly Json[]).filter((one) => one !== "null");
    const nullable = others.length < type.length;
    return { schema: others.length === 1 ? { ...schema, type: others[0] ?? "null" } : omit(schema, "type"), nullable };
  }
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(either)) return { schema, nullable: schema["nullable"] === true };
  const all = (either as readonly Json[]).filter(isObject).map((one) => resolve(one, root));
  const others = all.filter((one) => one["type"] !== "null");
  const [only] = others;
  if (others.length === 1 && only !== undefined && others.length < all.length) return { schema: only, nullable: true };
  return { schema, nullable: false };
}

function omit(schema: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== name));
}

function listChoices(schema: JsonObject, root: JsonObject): readonly Json[] | null {
  if (Array.isArray(schema["enum"])) return schema["enum"] as readonly Json[];
  if (Object.hasOwn(schema, "const")) return [schema["const"] ?? null];
  const either = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(either) || either.length === 0) return null;
  const all = (either as readonly Json[]).filter(isObject).map((one) => resolve(one, root));
  return all.length === either.length && all.every((one) => Object.hasOwn(one, "const"))
    ? all.map((one) => one["const"] ?? null)
    : null;
}

function chooseControl(schema: JsonObject): Control {
  const { type, properties, items } = schema;
  if (type === "string" && schema["format"] === "date") return "date";
  if (type === "string" && schema["format"] === "date-time") return "date_time";
  if (type === "string") return isLong(schema) ? "long_text" : "text";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  if (type === "object" && isObject(properties) && Object.keys(properties).length > 0) return "group";
  return type === "array" && isObject(items) ? "list" : "json";
}

function isLong(schema: JsonObject): boolean {
  const { maxLength, format, contentMediaType, default: given } = schema;
  if (typeof maxLength === "number" && maxLength > 200) return true;
  if (typeof given === "string" && (given.length > LONG_TEXT_UNITS || given.includes("\n"))) return true;
  return format === "textarea" || format === "markdown" || typeof contentMediaType === "string";
}

function listMembers(schema: JsonObject): readonly Member[] {
  const { properties, required } = schema;
  const wanted: readonly Json[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => ({
    name,
    schema: isObject(member) ? member : {},
    required: wanted.includes(name),
  }));
}

/**
 * Initial value of a form without a given one; undefined if optional, and where a person has to decide: yes or no is
 * never preset.
 */
export function buildInitial(one: FormField): Json | undefined {
  const { schema, control } = one;
  if (Object.hasOwn(schema, "default")) return schema["default"];
  if (control === "group") {
    if (!one.required) return undefined;
    const members = one.fields.map((member) => [member.name, buildInitial(member)] as const);
    return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as JsonObject;
  }
  if (!one.required) return undefined;
  if (control === "choice") return one.choices.length === 1 ? one.choices[0] : undefined;
  return control === "list" ? [] : undefined;
}

/** A schema for editing a value without one: each member keeps its type (schema.1). */
export function schemaOfValue(value: Json): JsonObject {
  if (typeof value === "string") {
    return value.length > LONG_TEXT_UNITS || value.includes("\n")
      ? { type: "string", format: "textarea" }
      : { type: "string" };
  }
  if (typeof value === "boolean" || typeof value === "number") return { type: typeof value };
  if (!isObject(value)) return {}; // lists and null: edited as JSON
  const properties = Object.entries(value).map(([name, member]) => [name, schemaOfValue(member)] as const);
  return { type: "object", properties: Object.fromEntries(properties), required: Object.keys(value) };
}

export interface Fault {
  /** `order.items`; empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

export function findFaults(one: FormField, value: Json | undefined, path = ""): readonly Fault[] {
  const fault = (message: string): readonly Fault[] => [{ path, message }];
  if (value === undefined) return one.required ? fault("is required") : [];
  if (value === null && one.nullable) return [];
  if (!one.required && isEmpty(value)) return [];
  const { schema, control, choices } = one;
  switch (control) {
    case "text":
    case "long_text":
      return typeof value === "string" ? textFaults(one, value).flatMap(fault) : fault("must be a text");
    case "date":
      return typeof value === "string" && isDate(value) ? [] : fault("must be a date");
    case "date_time":
      return typeof value === "string" && isZonedTime(value) ? [] : fault("must be a date and time");
    case "number":
    case "integer":
      return typeof value === "number"
        ? numberFaults(schema, control, value).flatMap(fault)
        : fault("must be a number");
    case "boolean":
      return typeof value === "boolean" ? [] : fault("must be yes or no");
    case "choice":
      return choices.some((choice) => sameJson(choice, value)) ? [] : fault("must be one of the choices");
    case "list":
      return Array.isArray(value) ? listFaults(one, value as readonly Json[], path) : fault("must be a list");
    case "group":
      if (!isObject(value)) return fault("must be an object");
      return one.fields.flatMap((member) =>
        findFaults(member, value[member.name], path === "" ? member.name : `${path}.${member.name}`),
      );
    case "json":
      return [];
    default:
      return control satisfies never;
  }
}

const limit = (schema: JsonObject, name: string): number | null => {
  const value = schema[name];
  return typeof value === "number" ? value : null;
};

/** Without the optional parts that are empty and would not match as they are. */
export function withoutEmpty(one: FormField, value: Json): Json {
  if (one.control === "list" && Array.isArray(value) && one.fields[0] !== undefined) {
    const [item] = one.fields;
    return (value as readonly Json[]).map((entry) => withoutEmpty(item, entry));
  }
  if (one.control !== "group" || !isObject(value)) return value;
  const isLeftOut = (member: FormField | undefined, given: Json): boolean =>
    member !== undefined &&
    !member.required &&
    isEmpty(given) &&
    findFaults({ ...member, required: true }, given).length > 0;
  const fields = new Map(one.fields.map((member) => [member.name, member]));
  const members = Object.entries(value).filter(([name, given]) => !isLeftOut(fields.get(name), given));
  return Object.fromEntries(
    members.map(([name, given]) => {
      const member = fields.get(name);
      return [name, member === undefined ? given : withoutEmpty(member, given)];
    }),
  );
}

function isEmpty(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function textFaults({ schema, description }: FormField, value: string): readonly string[] {
  const [least, most] = [limit(schema, "minLength"), limit(schema, "maxLength")];
  if (least !== null && value.length < least)
    return [least === 1 ? "is required" : `must have at least ${least} characters`];
  if (most !== null && value.length > most) return [`must have at most ${most} characters`];
  const { pattern } = schema;
  return typeof pattern === "string" && !matches(pattern, value)
    ? [description === null ? "does not have the expected form" : `must be: ${description}`]
    : [];
}

function numberFaults(schema: JsonObject, control: "number" | "integer", value: number): readonly string[] {
  if (!Number.isFinite(value)) return ["must be a number"];
  if (control === "integer" && !Number.isInteger(value)) return ["must be a whole number"];
  const [least, above] = [limit(schema, "minimum"), limit(schema, "exclusiveMinimum")];
  const [most, below] = [limit(schema, "maximum"), limit(schema, "exclusiveMaximum")];
  if (least !== null && value < least) return [`must be at least ${least}`];
  if (above !== null && value <= above) return [`must be greater than ${above}`];
  if (most !== null && value > most) return [`must be at most ${most}`];
  return below !== null && value >= below ? [`must be less than ${below}`] : [];
}

function listFaults(one: FormField, value: readonly Json[], path: string): readonly Fault[] {
  const [least, most] = [limit(one.schema, "minItems"), limit(one.schema, "maxItems")];
  if (least !== null && value.length < least) return [{ path, message: `must have at least ${least} entries` }];
  if (most !== null && value.length > most) return [{ path, message: `must have at most ${most} entries` }];
  const [item] = one.fields;
  return item === undefined ? [] : value.flatMap((member, at) => findFaults(item, member, `${path}[${at}]`));
}
