// Form: a question whose answer is an object of named fields, or any other value with a schema.
import { type AnswerSchema, type JsonSchema, readSchema } from "./answer-schema.ts";
import { type Ask, buildAsk, questionPayload } from "./ask.ts";
import { type Deadline, withDeadline } from "./deadline.ts";
import { type Review, withReview } from "./review.ts";

export interface FormOptions<Answer> {
  /** Markdown. Its first line is the title in lists. */
  readonly question: string;
  /** Shown below the question. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Schema of the answer. `title` and `description` of its members are labels and hints. */
  readonly schema: AnswerSchema<Answer> | JsonSchema;
  /** `onExpiry` is an answer as a person would send it. */
  readonly deadline?: Deadline<Readonly<Record<string, unknown>>>;
  /** Who may answer, and how many must agree. */
  readonly review?: Review;
}

/** With a JSON Schema the type of the answer is a parameter: `form<{ amount: number }>({ … })`. */
export function form<Answer>({ question, details, schema, deadline, review }: FormOptions<Answer>): Ask<Answer> {
  const { json, parse } = readSchema(schema);
  const responseSchema = withDeadline(withReview(json, review), deadline, (answer) => answer);
  return buildAsk(questionPayload(question, details), responseSchema, parse);
}
