// Answer schema: whether an answer fits the JSON Schema that its question carries.
// Invariants:
//   answer-schema.1. A check never takes longer than CHECK_MS_MAX, whatever schema and answer are. One that would is a refusal.
//   answer-schema.2. Patterns are matched in linear time where they can be (base/linear-pattern.ts).
import * as z from "zod";
import { boundedWork } from "../../base/bounded-work.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import { LinearPattern } from "../../base/linear-pattern.ts";

const CHECK_MS_MAX = 200;

/** Empty when the answer fits; null when the schema is beyond this validator. */
export function faultsOf(schema: JsonObject, answer: Json): readonly z.core.$ZodIssue[] | null {
  const type = compile(schema);
  if (type === null) return null;
  const check = () => type.safeParse(answer);
  const checked = canBeSlow(schema) ? boundedWork(CHECK_MS_MAX, check) : { result: check() }; // answer-schema.1
  if (checked !== "too_slow") return checked.result.success ? [] : checked.result.error.issues;
  return [{ code: "custom", path: [], message: TOO_SLOW, input: undefined }];
}

const TOO_SLOW = `the check against response_schema was stopped after ${CHECK_MS_MAX} ms`;

/** Without these words, a check takes time in proportion to the answer. */
function canBeSlow(schema: JsonObject): boolean {
  return /"(?:pattern\w*|propertyNames|format|\$ref|allOf|anyOf|oneOf)":/.test(JSON.stringify(schema));
}

function compile(schema: JsonObject): z.ZodType | null {
  const native = globalThis.RegExp;
  // answer-schema.2: the converter has no option for the engine, and makes its patterns in this one synchronous call.
  globalThis.RegExp = LinearPattern as unknown as RegExpConstructor;
  try {
    return z.fromJSONSchema(schema, { registry: z.registry() }); // of its own: the global one keeps every `id`
  } catch {
    return null;
  } finally {
    globalThis.RegExp = native;
  }
}
