// Answer schema: the JSON Schema with which a question is stored, and the check of an answer against it.
// Invariants:
//   answer-schema.1. A check does a bounded amount of work for any schema and answer (prepared-schema.ts); one with
//        more rejects the answer.
//   answer-schema.2. A schema that cannot be checked fails the run that asks with it (findSchemaFault).
//   answer-schema.3. Under review rules an answer has no members beyond its schema: people agree on all of it.
//   - Votes are for exactly the value that was sent. So one that takes several people has no number that JSON readers
//     round: whole numbers beyond 2^53 - 1 are texts, unless the question itself has the number.
//   answer-schema.4. A question keeps the schema that its graph declares. Without one it gets that of its payload's
//        dialect, unless the graph or the deployment takes answers as they are given.
import { Validator } from "@cfworker/json-schema";
import { deriveAnswerSchema } from "@holdpoint/api/answer-rules.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "../model/model.ts";
import type { OpenInterrupt } from "../ports/ports.ts";
import { closeSchema } from "../model/review/closed-schema.ts";
import { needsVotes } from "../model/review/votes.ts";
import { type AnswerFault, faultsIn } from "./answer-faults.ts";
import { findPriorityFault } from "./priority.ts";
import { countSteps, findSchemaFault, prepareSchema, TooManyStepsError } from "./prepared-schema.ts";

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

/** answer-schema.2. @returns a sentence; null if the answer to each question can be checked */
export function findQuestionFault(raised: readonly OpenInterrupt[]): string | null {
  for (const one of raised) {
    const schema = answerSchema(one);
    const fault = schema === null ? null : (findPriorityFault(schema) ?? findSchemaFault(schema));
    if (fault !== null) return fault;
  }
  return null;
}

/** @returns `answer_invalid`; null if the answer is valid or the validator does not support the schema */
export function schemaRefusal(interrupt: Interrupt, answer: Json): ApiError | null {
  const { threadId, interruptId, responseSchema, review, value } = interrupt;
  const rounded = needsVotes(review) ? findRoundedNumber(answer, value) : null;
  const schema = review === null || responseSchema === null ? responseSchema : closeSchema(responseSchema); // answer-schema.3
  const found = schema === null || rounded !== null ? [] : checkAnswer(schema, answer);
  const faults = rounded === null ? found : [{ path: rounded, message: ROUNDED }];
  const [first] = faults ?? []; // the node checks a schema that the validator does not support
  if (first === undefined) return null;
  const subject = first.path === "" ? "the answer" : first.path;
  return new ApiError("answer_invalid", `The answer does not match its schema: ${subject} ${first.message}.`, {
    interrupt_id: interruptId,
    see: `/inbox/${threadId}/${interruptId}`,
    errors: (faults ?? []).map(({ path, message }) => ({ path, message })),
  });
}

const ROUNDED = "is a number beyond 9007199254740991, and rounded before people can agree on it: send it as a text";

/** @param asked numbers in the question are as its graph has them @returns its path; null without any */
function findRoundedNumber(answer: Json, asked: Json): string | null {
  const known = new Set<number>();
  findNumber(asked, "", (number) => {
    known.add(number);
    return false;
  });
  return findNumber(answer, "", (number) => Math.abs(number) > Number.MAX_SAFE_INTEGER && !known.has(number));
}

function findNumber(value: Json, path: string, fits: (number: number) => boolean): string | null {
  if (typeof value === "number") return fits(value) ? path : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = findNumber(member, path === "" ? name : `${path}.${name}`, fits);
    if (found !== null) return found;
  }
  return null;
}

/** Empty if the answer is valid; null if the validator does not support the schema. */
export function checkAnswer(schema: JsonObject, answer: Json): readonly AnswerFault[] | null {
  try {
    return countSteps(() =>
      faultsIn(new Validator(prepareSchema(schema, answer), "2020-12", false).validate(answer).errors, answer),
    );
  } catch (error) {
    return error instanceof TooManyStepsError ? [{ path: "", message: TOO_SLOW }] : null;
  }
}

const TOO_SLOW = "takes too long: the check against response_schema has too many steps";
