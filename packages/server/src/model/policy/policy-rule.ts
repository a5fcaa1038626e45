// Policy rules: what a policy says, checked where it is written. Pure.
//   conditions   path → {operator: value}; every operator of every path must hold
//   paths        action, args.<name>…, assistant, graph, thread, metadata.<name>…, payload, payload.<name>…
//   operators    eq, in, lt, lte, gt, gte, exists
// Invariants:
//   policy-rule.1. What a policy does not understand is refused when it is written, never skipped: a condition that is lost
//        would widen it.
//   policy-rule.2. Numbers that JSON does not carry exactly are refused.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { PolicyAnswer, PolicyRule } from "../policy.ts";

/** A rule as it is written: `action` is short for a condition. */
export interface GivenPolicy {
  readonly action?: string | null | undefined;
  readonly when?: JsonObject | null | undefined;
  readonly answer: Json;
  readonly until?: string | null | undefined;
}

export class PolicyFault extends Error {}

const CONDITIONS_MAX = 20;
const VALUES_MAX = 100;
const TEXT_MAX = 1000;
const PATH_MAX = 200;
const ANSWER_UNITS_MAX = 16_384;
const WHOLE = new Set(["action", "assistant", "graph", "thread"]);
const TREES = new Set(["args", "metadata", "payload"]);

/** @throws {PolicyFault} */
export function readPolicyRule({ action = null, when, answer, until }: GivenPolicy): PolicyRule {
  const given = Object.entries(when ?? {});
  if (action !== null && given.some(([path]) => path === "action"))
    throw new PolicyFault("`action` and when.action say the same: send one of them");
  if (action !== null) given.push(["action", action]);
  if (given.length === 0) throw new PolicyFault("names no condition: send `action` or `when`");
  if (given.length > CONDITIONS_MAX) throw new PolicyFault(`has more than ${CONDITIONS_MAX} conditions`);
  const conditions = given.map(([path, test]): [string, Json] => [readPath(path), readTests(path, test)]);
  return {
    conditions: Object.fromEntries(conditions),
    answer: readAnswer(answer),
    until: until === null || until === undefined ? null : Date.parse(until),
  };
}

function readPath(path: string): string {
  const [root = "", ...steps] = path.split(".");
  const isKnown = steps.length === 0 ? WHOLE.has(root) || root === "payload" : TREES.has(root);
  if (isKnown && !steps.includes("") && path.length <= PATH_MAX) return path;
  const known = "action, assistant, graph, thread, payload, args.…, metadata.… or payload.…";
  throw new PolicyFault(`"${path.slice(0, PATH_MAX)}" is no path: write ${known}`);
}

/** A value alone is short for `eq`. */
function readTests(path: string, test: Json): JsonObject {
  const tests = isJsonObject(test) ? Object.entries(test) : ([["eq", test]] as const);
  if (tests.length === 0) throw new PolicyFault(`${path}: names no operator`);
  for (const [operator, value] of tests) {
    const fault = findTestFault(operator, value);
    if (fault !== null) throw new PolicyFault(`${path}: ${fault}`);
  }
  return Object.fromEntries(tests);
}

function findTestFault(operator: string, value: Json): string | null {
  switch (operator) {
    case "eq":
      return isExact(value) ? null : "eq takes a text, a boolean, null, or a number that is exact in JSON";
    case "in":
      return Array.isArray(value) && value.length > 0 && value.length <= VALUES_MAX && value.every(isExact)
        ? null
        : `in takes a list of 1 to ${VALUES_MAX} texts, numbers or booleans`;
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return typeof value === "number" && isExact(value) ? null : `${operator} takes a number that is exact in JSON`;
    case "exists":
      return typeof value === "boolean" ? null : "exists takes true or false";
    default:
      return `"${operator}" is no operator: write eq, in, lt, lte, gt, gte or exists`; // policy-rule.1
  }
}

/** policy-rule.2. */
function isExact(value: Json): boolean {
  if (typeof value === "number") return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return value === null || typeof value === "boolean" || (typeof value === "string" && value.length <= TEXT_MAX);
}

function readAnswer(answer: Json): PolicyAnswer {
  if (answer === "approve" || answer === "reject") return answer;
  if (!isJsonObject(answer) || Object.keys(answer).join() !== "value")
    throw new PolicyFault('answer: write "approve", "reject" or {"value": …}');
  if (JSON.stringify(answer).length > ANSWER_UNITS_MAX)
    throw new PolicyFault(`answer: has more than ${ANSWER_UNITS_MAX} characters`);
  return { value: answer["value"] ?? null };
}
