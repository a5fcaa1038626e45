// Form: a question whose answer is an object of named fields, or any other value with a schema.
import { type AnswerSchema, type JsonSchema, readSchema } from "./answer-schema.ts";
import { type Ask, buildAsk, questionPayload } from "./ask.ts";
import { type Deadline, withDeadline } from "./deadline.ts";
import { type Rules, withRules } from "./review.ts";

export interface FormOptions<Answer> extends Rules {
  /** Markdown. Its first line is the title in lists. */
  readonly question: string;
  /** Shown below the question. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Schema of the answer. `title` and `description` of its members are labels and hints. */
  readonly schema: AnswerSchema<Answer> | JsonSchema;
  /** `onExpiry` is an answer as a person would send it. */
  readonly deadline?: Deadline<Readonly<Record<string, unknown>>>;
}

/** With a JSON Schema the type of the answer is a parameter: `form<{ amount: number }>({ … })`. */
export function form<Answer>({ question, details, schema, deadline, ...rules }: FormOptions<Answer>): Ask<Answer> {
  const { json, parse } = readSchema(schema);
  const responseSchema = withDeadline(withRules(json, rules), deadline, (answer) => answer);
  return buildAsk(questionPayload(question, details), responseSchema, parse);
}
