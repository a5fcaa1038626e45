// Answer schema: the JSON Schema with which a question is stored, and the check of an answer against it.
// Invariants:
//   answer-schema.1. A check takes at most CHECK_MS_MAX of CPU time for any schema and answer, and all checks together
//        have a budget (check-budget.ts). A slower check rejects the answer.
//   answer-schema.2. Patterns run in linear time where possible (base/linear-pattern.ts).
//   answer-schema.3. Under review rules an answer has no members beyond its schema: people agree on all of it.
//   answer-schema.4. A question keeps the schema that its graph declares. Without one it gets that of its payload's
//        dialect, unless the graph or the deployment takes answers as they are given.
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import { deriveAnswerSchema } from "../../api/answers/answer-rules.ts";
import { ApiError } from "../../base/api-error.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import { LinearPattern } from "../../base/linear-pattern.ts";
import type { Interrupt } from "../model/model.ts";
import type { OpenInterrupt } from "../ports/ports.ts";
import { closeSchema } from "../review/closed-schema.ts";
import { type AnswerFault, faultsIn } from "./answer-faults.ts";
import { CHECK_MS_MAX, createCheckBudget } from "./check-budget.ts";

/** Member of a response schema that turns the rules of the payload's dialect off. */
const OPTION = "interrupt_answers";

/** answer-schema.4. @returns the `response_schema` of the new question; null if any answer fits */
export function answerSchema({
  value,
  responseSchema,
  answers,
}: Pick<OpenInterrupt, "value" | "responseSchema" | "answers">): JsonObject | null {
  const names = Object.keys(responseSchema ?? {});
  const isDeclared = names.some((name) => name !== OPTION && !name.startsWith("x-holdpoint-"));
  if (isDeclared || answers === "as_given" || responseSchema?.[OPTION] === "as_given") return responseSchema;
  if (responseSchema !== null && names.length === 0) return responseSchema; // any answer, as the graph says
  const derived = deriveAnswerSchema(value);
  return derived === null ? responseSchema : { ...derived, ...responseSchema };
}

/** Of all answers of the process. */
const sharedBudget = createCheckBudget();
const RETRY_AFTER_SECS = 2;

/** @returns `answer_invalid`; null if the answer is valid or the validator does not support the schema */
export function schemaRefusal(
  { threadId, interruptId, responseSchema, review }: Interrupt,
  answer: Json,
): ApiError | null {
  if (responseSchema === null) return null;
  const faults = checkAnswer(review === null ? responseSchema : closeSchema(responseSchema), answer); // answer-schema.3
  const [first] = faults ?? []; // the node checks a schema that the validator does not support
  if (first === undefined) return null;
  const subject = first.path === "" ? "the answer" : first.path;
  return new ApiError("answer_invalid", `The answer does not match its schema: ${subject} ${first.message}.`, {
    interrupt_id: interruptId,
    see: `/inbox/${threadId}/${interruptId}`,
    errors: (faults ?? []).map(({ path, message }) => ({ path, message })),
  });
}

/**
 * Empty if the answer is valid; null if the validator does not support the schema.
 * @throws {ApiError} `answer_check_busy` (check-budget.2)
 */
export function checkAnswer(schema: JsonObject, answer: Json, budget = sharedBudget): readonly AnswerFault[] | null {
  const check = () => validate(schema, answer);
  const run = () => (canBeSlow(schema) ? budget.run(check) : { result: check() }); // answer-schema.1
  const checked = withLinearPatterns(run);
  if (checked === "busy") throw busy();
  if (checked === "too_slow") return [{ path: "", message: TOO_SLOW }];
  return checked.result === null ? null : faultsIn(checked.result, answer);
}

function busy(): ApiError {
  const detail = "Checks of answers against slow schemas use all the time that they may: send the answer again.";
  return new ApiError("answer_check_busy", detail, {}, { "Retry-After": String(RETRY_AFTER_SECS) });
}

const TOO_SLOW = `takes too long: the check against response_schema was stopped after ${CHECK_MS_MAX} ms`;

/** Without these keywords, the check takes time linear in the size of the answer. */
function canBeSlow(schema: JsonObject): boolean {
  return /"(?:pattern\w*|propertyNames|format|uniqueItems|contains|\$ref|\$dynamicRef|\$recursiveRef)":/.test(
    JSON.stringify(schema),
  );
}

/**
 * answer-schema.2: the validator has no option for the engine, and creates its patterns in this one synchronous call.
 * Around the interruption, not inside: an interrupted call skips its own `finally`.
 */
function withLinearPatterns<T>(run: () => T): T {
  const native = globalThis.RegExp;
  globalThis.RegExp = LinearPattern as unknown as RegExpConstructor;
  try {
    return run();
  } finally {
    globalThis.RegExp = native;
  }
}

/** Null for a schema that is none. */
function validate(schema: JsonObject, answer: Json): readonly OutputUnit[] | null {
  try {
    return new Validator(schema, "2020-12", false).validate(answer).errors;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

function isInterruption(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
