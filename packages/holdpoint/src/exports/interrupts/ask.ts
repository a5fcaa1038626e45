// Ask: a request to a person, ready for `interrupt()` of the project's own LangGraph.
// Rules:
//   - The check runs inside interrupt(), before LangGraph stores the answer: after an answer that does not match, the
//     interrupt can be answered again.
import * as z from "zod";
import type { JsonSchema, Parsed } from "./answer-schema.ts";

/** `interrupt` of `@langchain/langgraph`. */
// oxlint-disable-next-line typescript/no-explicit-any -- its schema types come from the project's copy of LangGraph
export type InterruptFunction = (payload: unknown, options?: { responseSchema?: any }) => unknown;

export interface Ask<Answer> {
  /** The argument of `interrupt()`. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Its option of that name. */
  readonly responseSchema: JsonSchema;
  /** An answer as it arrives → its value. @throws {InvalidAnswerError} */
  readonly parse: (answer: unknown) => Answer;
  /** Pauses the run, and returns the answer after the resume. */
  readonly ask: (interrupt: InterruptFunction) => Answer;
}

export class InvalidAnswerError extends Error {
  constructor(reason: string) {
    super(`The answer does not match the request: ${reason}`);
    this.name = "InvalidAnswerError";
  }
}

export function buildAsk<Answer>(
  payload: Ask<Answer>["payload"],
  responseSchema: JsonSchema,
  parse: (answer: unknown) => Parsed<Answer>,
): Ask<Answer> {
  const parseAnswer = (answer: unknown): Answer => {
    const result = parse(answer);
    if (result.ok) return result.value;
    throw new InvalidAnswerError(result.reason);
  };
  return {
    payload,
    responseSchema,
    parse: parseAnswer,
    ask: (interrupt) => parseAnswer(interrupt(payload, { responseSchema: gate(responseSchema, parse) })),
  };
}

/** A Zod schema that passes an answer on as it is, or refuses it; for clients it is the JSON Schema. */
function gate(json: JsonSchema, parse: (answer: unknown) => Parsed<unknown>): z.ZodType {
  const error = ({ input }: { readonly input?: unknown }): string => {
    const result = parse(input);
    return result.ok ? "" : result.reason;
  };
  const schema = z.custom((answer) => parse(answer).ok, { error });
  schema._zod.toJSONSchema = () => structuredClone(json);
  return schema;
}

/** Members that would turn a question into a request of another dialect. */
const RESERVED = ["action_request", "action_requests", "actionRequests"];

/** @throws {TypeError} for a reserved name */
export function questionPayload(
  question: string,
  details: Readonly<Record<string, unknown>> = {},
): Ask<unknown>["payload"] {
  const reserved = RESERVED.find((name) => name in details);
  if (reserved !== undefined) throw new TypeError(`details must not have a member ${reserved}: clients read it`);
  return { question, ...details };
}
