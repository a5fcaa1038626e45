// Item view: an item of the inbox as a message shows it, and the decisions that a message can offer.
import { type DecisionType, recognise } from "@holdpoint/api/dialects.ts";
import { formatRequest } from "@holdpoint/api/text/payload-content.ts";
import { formatExcerpt, formatHint, isDangerous } from "@holdpoint/api/text/payload-excerpt.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import { maskSecrets } from "@holdpoint/server/model/payload/mask-secrets.ts";

/** `continue` is for breakpoints. */
export type Choice = DecisionType | "continue";

export interface ItemView {
  readonly title: string;
  /** What stands beside the title in a list; empty for nothing. */
  readonly hint: string;
  readonly dangerous: boolean;
  /** The request as lines; null for a breakpoint. */
  readonly text: string | null;
  readonly choices: readonly Choice[];
  /** Choices that let the graph do what it asked about; an answer too, where there is no action to approve. */
  readonly goesAhead: ReadonlySet<Choice>;
  /** Arguments of the only action; undefined unless they can be edited. */
  readonly editable: Json | undefined;
  /** The answer is a text as it is, not JSON. */
  readonly plainText: boolean;
  /** The values that the answer is one of; empty if it may be any. */
  readonly options: readonly AnswerOption[];
}

export interface AnswerOption {
  readonly label: string;
  readonly value: Json;
}

export function buildItemView({ kind, node, value, responseSchema }: Interrupt): ItemView {
  if (kind === "breakpoint") {
    return {
      title: `Breakpoint before ${visible(node)}`,
      hint: "",
      dangerous: false,
      text: null,
      choices: ["continue"],
      goesAhead: NOTHING_ASKED,
      editable: undefined,
      plainText: false,
      options: [],
    };
  }
  const asked = recognise(value, responseSchema);
  const [action] = asked.actions;
  const isOne = asked.actions.length === 1;
  const choices = asked.allowed.filter((choice) => choice !== "edit" || isOne);
  const type = asked.schema?.["type"];
  const { title, actions } = asked;
  return {
    title,
    hint: formatHint({ title, action: actions[0]?.name ?? null, excerpt: formatExcerpt(value, asked) }),
    dangerous: isDangerous(value),
    text: visible(formatRequest(value, asked)),
    choices,
    goesAhead: asked.actions.length > 0 ? OF_ACTIONS : OF_QUESTIONS,
    editable: isOne && choices.includes("edit") ? action?.args : undefined,
    plainText: asked.actions.length > 0 || asked.schema === null || type === "string",
    options: asked.actions.length > 0 || asked.schema === null ? [] : listOptions(asked.schema),
  };
}

const NOTHING_ASKED: ReadonlySet<Choice> = new Set();
const OF_ACTIONS: ReadonlySet<Choice> = new Set(["approve", "edit"]);
const OF_QUESTIONS: ReadonlySet<Choice> = new Set(["approve", "edit", "respond"]);

/** Those of `enum`, of `oneOf` or `anyOf` with a `const` each, or of a boolean. */
function listOptions(schema: JsonObject): readonly AnswerOption[] {
  const label = (value: Json): string => (typeof value === "string" && value !== "" ? value : JSON.stringify(value));
  const { enum: values, oneOf, anyOf = oneOf, type } = schema;
  if (Array.isArray(values)) return (values as readonly Json[]).map((value) => ({ label: label(value), value }));
  if (type === "boolean")
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
  if (!Array.isArray(anyOf)) return [];
  const options = (anyOf as readonly Json[]).map((one): AnswerOption | null => {
    if (!isJsonObject(one) || one["const"] === undefined) return null;
    const { const: value, title } = one;
    return { label: typeof title === "string" && title !== "" ? title : label(value), value };
  });
  return options.every((one) => one !== null) ? options : [];
}

/** `approved`, `rejected`, …: the effect of an answer, in a word; `answered` if its form is unknown. */
export function nameVerdict(value: Json): string {
  const list = isJsonObject(value) ? value["decisions"] : value;
  const types = (Array.isArray(list) ? (list as readonly Json[]) : []).map((one) =>
    isJsonObject(one) ? one["type"] : null,
  );
  const words = new Set(types.map((type) => WORDS.get(type ?? null) ?? "answered"));
  if (words.size === 1) return [...words][0] ?? "answered";
  if (words.size > 1) return "decided";
  return value === true ? "approved" : value === false ? "rejected" : "answered";
}

const WORDS = new Map<Json, string>([
  ["approve", "approved"],
  ["accept", "approved"],
  ["edit", "approved with changes"],
  ["reject", "rejected"],
  ["respond", "answered"],
  ["response", "answered"],
  ["ignore", "ignored"],
]);

/** The end of an item as one sentence; null while it is open. */
export function formatEnd(item: Interrupt | null): string | null {
  if (item === null) return "No longer waiting: the thread was deleted.";
  if (item.state === "open") return null;
  const { answer } = item;
  if (item.state === "abandoned" || answer === null)
    return "No longer waiting: the thread continued without an answer.";
  if (item.kind === "breakpoint") return `Continued by ${visible(answer.by)}.`;
  const word = nameVerdict(maskSecrets(answer.value, item.responseSchema));
  return `${word.charAt(0).toUpperCase()}${word.slice(1)} by ${visible(answer.by)}.`;
}
