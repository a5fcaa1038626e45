// JSON filter: conditions on the members of an object, and the check whether an object meets them.
// Invariants:
//   json-filter.1. An absent member meets `ne` and `nin` only.
//   json-filter.2. Numbers compare only with numbers, and texts only with texts: `gt`, `gte`, `lt` and `lte` fail for
//        every other pair.
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

const OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"] as const;
type Operator = (typeof OPERATORS)[number];

export interface FilterCondition {
  /** Member names, outermost first. */
  readonly path: readonly string[];
  readonly op: Operator;
  readonly value: Json;
}

/**
 * `{"kind": "note", "size": {"$gte": 3, "$lt": 9}, "author": {"name": "ann"}}` → a list of conditions, all of which
 * must hold. An object without operators sets conditions on its members.
 * @throws {Error} with the reason, for an unknown operator or an operand of the wrong type.
 */
export function parseFilter(filter: JsonObject): readonly FilterCondition[] {
  return listConditions(filter, []);
}

function listConditions(filter: JsonObject, path: readonly string[]): FilterCondition[] {
  return Object.entries(filter).flatMap(([name, value]) => {
    const here = [...path, name];
    if (!isJsonObject(value) || Object.keys(value).length === 0) return [{ path: here, op: "eq", value }];
    const operators = Object.keys(value).filter((key) => key.startsWith("$"));
    if (operators.length === 0) return listConditions(value, here);
    return Object.entries(value).map(([key, operand]) => ({
      path: here,
      op: parseOperator(key, operand),
      value: operand,
    }));
  });
}

function parseOperator(key: string, operand: Json): Operator {
  const op = OPERATORS.find((one) => `$${one}` === key);
  if (op === undefined) {
    throw new Error(`"${key}" is not an operator; the operators are ${OPERATORS.map((one) => `$${one}`).join(", ")}`);
  }
  if ((op === "in" || op === "nin") && !Array.isArray(operand)) throw new Error(`${key} takes a list`);
  return op;
}

export function matchesFilter(value: JsonObject, conditions: readonly FilterCondition[]): boolean {
  return conditions.every((condition) => meets(memberAt(value, condition.path), condition));
}

function memberAt(value: JsonObject, path: readonly string[]): Json | undefined {
  let member: Json | undefined = value;
  for (const name of path) {
    if (!isJsonObject(member) || !Object.hasOwn(member, name)) return undefined;
    member = member[name];
  }
  return member;
}

function meets(member: Json | undefined, { op, value }: FilterCondition): boolean {
  switch (op) {
    case "eq":
      return equal(member, value);
    case "ne":
      return !equal(member, value); // json-filter.1
    case "in":
      return (value as readonly Json[]).some((one) => equal(member, one));
    case "nin":
      return !(value as readonly Json[]).some((one) => equal(member, one));
    case "gt":
      return inOrder(value, member, false);
    case "gte":
      return inOrder(value, member, true);
    case "lt":
      return inOrder(member, value, false);
    case "lte":
      return inOrder(member, value, true);
    default:
      return op satisfies never;
  }
}

/** json-filter.2 */
function inOrder(low: Json | undefined, high: Json | undefined, orEqual: boolean): boolean {
  if (typeof low === "number" && typeof high === "number") return orEqual ? low <= high : low < high;
  if (typeof low === "string" && typeof high === "string") return orEqual ? low <= high : low < high;
  return false;
}

function equal(left: Json | undefined, right: Json | undefined): boolean {
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, at) => equal(item as Json, right[at] as Json))
    );
  }
  if (isJsonObject(left)) {
    if (!isJsonObject(right)) return false;
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && equal(left[name], right[name]))
    );
  }
  return left === right;
}
