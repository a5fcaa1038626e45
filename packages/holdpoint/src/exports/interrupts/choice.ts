// Choice: a question with given answers, of which a person picks one, or several.
import type { Parsed } from "./answer-schema.ts";
import { type Ask, buildAsk, questionPayload } from "./ask.ts";
import { type Deadline, withDeadline } from "./deadline.ts";
import { type Rules, withRules } from "./review.ts";

export interface ChoiceOptions<Option extends string> extends Rules {
  /** Markdown. Its first line is the title in lists. */
  readonly question: string;
  /** Shown below the question. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** At least one, all different. */
  readonly options: readonly Option[];
  readonly several?: false;
  readonly deadline?: Deadline<{ readonly answer: NoInfer<Option> }>;
}

export interface ChoicesOptions<Option extends string> extends Omit<ChoiceOptions<Option>, "several" | "deadline"> {
  /** Any number of the options, also none. */
  readonly several: true;
  readonly deadline?: Deadline<{ readonly answer: readonly NoInfer<Option>[] }>;
}

export function choice<const Option extends string>(request: ChoiceOptions<Option>): Ask<Option>;
export function choice<const Option extends string>(request: ChoicesOptions<Option>): Ask<Option[]>;
export function choice<const Option extends string>(
  request: ChoiceOptions<Option> | ChoicesOptions<Option>,
): Ask<Option> | Ask<Option[]> {
  const { question, details, options } = request;
  if (options.length === 0 || new Set(options).size !== options.length)
    throw new TypeError("options needs at least one text, all different");
  const payload = questionPayload(question, details);
  const one = { type: "string", enum: [...options] };
  const reason = `expected ${request.several === true ? "a list of" : "one of"} ${options.join(", ")}`;
  const isOption = (value: unknown): value is Option => (options as readonly unknown[]).includes(value);
  if (request.several === true) {
    const several = { type: "array", items: one, uniqueItems: true, maxItems: options.length };
    const parse = (value: unknown): Parsed<Option[]> =>
      Array.isArray(value) && value.every(isOption) ? { ok: true, value } : { ok: false, reason };
    return buildAsk(
      payload,
      withDeadline(withRules(several, request), request.deadline, ({ answer }) => answer),
      parse,
    );
  }
  const parse = (value: unknown): Parsed<Option> => (isOption(value) ? { ok: true, value } : { ok: false, reason });
  return buildAsk(
    payload,
    withDeadline(withRules(one, request), request.deadline, ({ answer }) => answer),
    parse,
  );
}
