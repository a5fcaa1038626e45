// Answer schema: validation of an answer against the JSON Schema of its interrupt.
// Invariants:
//   answer-schema.1. A check takes at most CHECK_MS_MAX of CPU time for any schema and answer, and all checks together
//        have a budget (check-budget.ts). A slower check rejects the answer.
//   answer-schema.2. Patterns run in linear time where possible (base/linear-pattern.ts).
import * as z from "zod";
import { ApiError } from "../../base/api-error.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import { LinearPattern } from "../../base/linear-pattern.ts";
import type { Interrupt } from "../model/model.ts";
import { CHECK_MS_MAX, createCheckBudget } from "./check-budget.ts";

/** Of all answers of the process. */
const sharedBudget = createCheckBudget();
const RETRY_AFTER_SECS = 2;

/** @returns `answer_invalid`; null if the answer is valid or the validator does not support the schema */
export function schemaRefusal({ threadId, interruptId, responseSchema }: Interrupt, answer: Json): ApiError | null {
  const faults = responseSchema === null ? null : faultsOf(responseSchema, answer);
  if (faults === null || faults.length === 0) return null; // the node checks a schema that the validator does not support
  const errors = faults.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  return new ApiError("answer_invalid", `The answer does not match its schema: ${faultText(errors[0], answer)}.`, {
    interrupt_id: interruptId,
    see: `/inbox/${threadId}/${interruptId}`,
    errors,
  });
}

/**
 * Empty if the answer is valid; null if the validator does not support the schema.
 * @throws {ApiError} `answer_check_busy` (check-budget.2)
 */
export function faultsOf(schema: JsonObject, answer: Json, budget = sharedBudget): readonly z.core.$ZodIssue[] | null {
  const type = compile(schema);
  if (type === null) return null;
  const check = () => type.safeParse(answer);
  const checked = canBeSlow(schema) ? budget.run(check) : { result: check() }; // answer-schema.1
  if (checked === "busy") throw busy();
  if (checked !== "too_slow") return checked.result.success ? [] : checked.result.error.issues;
  return [{ code: "custom", path: [], message: TOO_SLOW, input: undefined }];
}

function busy(): ApiError {
  const detail = "Checks of answers against slow schemas use all the time that they may: send the answer again.";
  return new ApiError("answer_check_busy", detail, {}, { "Retry-After": String(RETRY_AFTER_SECS) });
}

const TOO_SLOW = `the check against response_schema was stopped after ${CHECK_MS_MAX} ms`;

/** Without these keywords, the check takes time linear in the size of the answer. */
function canBeSlow(schema: JsonObject): boolean {
  return /"(?:pattern\w*|propertyNames|format|\$ref|allOf|anyOf|oneOf)":/.test(JSON.stringify(schema));
}

function compile(schema: JsonObject): z.ZodType | null {
  const native = globalThis.RegExp;
  // answer-schema.2: the converter has no option for the engine. It creates its patterns in this one synchronous call.
  globalThis.RegExp = LinearPattern as unknown as RegExpConstructor;
  try {
    return z.fromJSONSchema(schema, { registry: z.registry() }); // a separate registry: the global one keeps every `id`
  } catch {
    return null;
  } finally {
    globalThis.RegExp = native;
  }
}

/** Fault as a sentence for a form: `amount should be a number, and is the text "12"`. */
function faultText(fault: { readonly path: string; readonly message: string } | undefined, answer: Json): string {
  if (fault === undefined) return "the shape differs";
  const { path, message } = fault;
  const subject = path === "" ? "the answer" : path;
  // no alternative of several matches
  if (message === "Invalid input") return `${subject} matches none of the allowed schemas`;
  const expected = /expected (string|number|boolean|object|array|integer|null)\b/.exec(message)?.[1];
  if (expected === undefined) return `${subject}: ${message}`;
  const given = path === "" ? answer : valueAt(answer, path.split("."));
  const article = /^[aeio]/.test(expected) ? "an" : "a";
  return `${subject} should be ${article} ${expected}, and ${described(given)}`;
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

function described(given: Json | undefined): string {
  if (given === undefined) return "is missing";
  if (given === null) return "is null";
  if (typeof given === "string") return `is the text ${JSON.stringify(given.slice(0, 40))}`;
  if (Array.isArray(given)) return "is a list";
  return typeof given === "object" ? "is an object" : `is ${JSON.stringify(given)}`;
}
