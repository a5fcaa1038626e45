// Approval: an action that a person approves, edits, rejects or responds to, in the dialect of LangChain's
// human-in-the-loop middleware.
import * as z from "zod";
import { type AnswerSchema, type JsonSchema, type Parsed, readSchema } from "./answer-schema.ts";
import { type Ask, buildAsk } from "./ask.ts";
import { type Deadline, withDeadline } from "./deadline.ts";
import { type Rules, withRules } from "./review.ts";

export type DecisionType = "approve" | "edit" | "reject" | "respond";

/** `args` are those to act with: edited ones after an edit. */
export type Approval<Args, Type extends DecisionType = DecisionType> = Extract<
  | { readonly type: "approve"; readonly args: Args }
  | { readonly type: "edit"; readonly args: Args }
  | { readonly type: "reject"; readonly message: string | null }
  | { readonly type: "respond"; readonly message: string },
  { readonly type: Type }
>;

export interface ApprovalOptions<Args, Type extends DecisionType> extends Rules {
  /** Name of the action, as `send_email`. */
  readonly action: string;
  readonly args: Args;
  /** Markdown. */
  readonly description?: string;
  /** Clients ask for a confirmation before they send a decision. */
  readonly dangerous?: boolean;
  /** Default: approve, edit, reject. */
  readonly allow?: readonly Type[];
  /** Schema of edited arguments. */
  readonly schema?: AnswerSchema<Args> | JsonSchema;
  readonly deadline?: Deadline<"approve" | "reject">;
}

const DEFAULT = ["approve", "edit", "reject"] as const;

export function approval<Args extends object, const Type extends DecisionType = (typeof DEFAULT)[number]>(
  request: ApprovalOptions<Args, Type>,
): Ask<Approval<Args, Type>> {
  const { action, args, description, schema } = request;
  const allow: readonly DecisionType[] = request.allow ?? DEFAULT;
  if (allow.length === 0) throw new TypeError("allow needs at least one decision");
  const edited = schema === undefined ? null : readSchema<Args>(schema);
  const payload = {
    actionRequests: [
      {
        name: action,
        args,
        ...(description === undefined ? {} : { description }),
        ...(request.dangerous === true ? { dangerous: true } : {}),
      },
    ],
    reviewConfigs: [
      { actionName: action, allowedDecisions: [...allow], ...(edited === null ? {} : { argsSchema: edited.json }) },
    ],
  };
  const reviewed = withRules(answerSchema(action, allow, edited?.json), request);
  const responseSchema = withDeadline(reviewed, request.deadline, (type) => ({ decisions: [{ type }] }));
  return buildAsk(payload, responseSchema, (answer) => {
    const wire = WIRE.safeParse(answer);
    const decision = wire.data?.decisions[0];
    if (decision === undefined) return refused(`expected {"decisions": [{"type": …}]}`);
    if (!allow.includes(decision.type)) return refused(`expected one of ${allow.join(", ")}`);
    return read(decision) as Parsed<Approval<Args, Type>>;
  });

  function read(decision: Wire): Parsed<Approval<Args>> {
    switch (decision.type) {
      case "approve":
        return { ok: true, value: { type: "approve", args } };
      case "edit": {
        const given = decision.editedAction.args;
        const parsed: Parsed<Args> = edited === null ? { ok: true, value: given as Args } : edited.parse(given);
        return parsed.ok ? { ok: true, value: { type: "edit", args: parsed.value } } : parsed;
      }
      case "reject":
        return { ok: true, value: { type: "reject", message: decision.message ?? null } };
      case "respond":
        return { ok: true, value: { type: "respond", message: decision.message } };
      default:
        return decision satisfies never;
    }
  }
}

const WIRE = z.object({
  decisions: z.tuple([
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("approve") }),
      z.object({ type: z.literal("edit"), editedAction: z.object({ args: z.record(z.string(), z.unknown()) }) }),
      z.object({ type: z.literal("reject"), message: z.string().nullish() }),
      z.object({ type: z.literal("respond"), message: z.string() }),
    ]),
  ]),
});
type Wire = z.infer<typeof WIRE>["decisions"][0];

function answerSchema(
  action: string,
  allow: readonly DecisionType[],
  args: JsonSchema = { type: "object" },
): JsonSchema {
  const message = { type: "string" };
  const members: Readonly<Record<DecisionType, readonly [properties: object, required: readonly string[]]>> = {
    approve: [{}, []],
    edit: [
      {
        editedAction: {
          type: "object",
          properties: { name: { const: action }, args },
          required: ["args"],
        },
      },
      ["editedAction"],
    ],
    reject: [{ message }, []],
    respond: [{ message }, ["message"]],
  };
  const decisions = allow.map((type) => {
    const [properties, required] = members[type];
    return { type: "object", properties: { type: { const: type }, ...properties }, required: ["type", ...required] };
  });
  return {
    type: "object",
    properties: { decisions: { type: "array", minItems: 1, maxItems: 1, items: { anyOf: decisions } } },
    required: ["decisions"],
  };
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
