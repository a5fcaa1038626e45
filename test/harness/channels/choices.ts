// Choices: an answer as the buttons and forms of messages can say it: a decision and a text.

export interface Choice {
  readonly choice: "approve" | "edit" | "reject" | "respond" | "ignore";
  readonly text: string;
}

type Plain = Readonly<Record<string, unknown>>;

const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const keysAre = (value: Plain, ...names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

/** Null if the value is none that a button or a form sends. */
export function choiceFor(value: unknown): Choice | null {
  if (Array.isArray(value)) return value.length === 1 ? humanChoice(value[0]) : null;
  if (typeof value === "string") return { choice: "respond", text: value };
  if (!isPlain(value) || !keysAre(value, "decisions") || !Array.isArray(value["decisions"])) return null;
  const [first, ...others] = value["decisions"] as readonly unknown[];
  return others.length === 0 ? hitlChoice(first) : null;
}

function hitlChoice(decision: unknown): Choice | null {
  if (!isPlain(decision)) return null;
  const { type, message } = decision;
  const edited = decision["edited_action"] ?? decision["editedAction"];
  if (type === "approve" && keysAre(decision, "type")) return { choice: "approve", text: "" };
  if ((type === "reject" || type === "respond") && keysAre(decision, "type", "message"))
    return message === undefined || typeof message === "string" ? { choice: type, text: message ?? "" } : null;
  if (type !== "edit" || !isPlain(edited) || !keysAre(edited, "name", "args")) return null;
  return { choice: "edit", text: JSON.stringify(edited["args"]) };
}

function humanChoice(answer: unknown): Choice | null {
  if (!isPlain(answer) || !keysAre(answer, "type", "args")) return null;
  const { type, args } = answer;
  if (type === "accept" && args === null) return { choice: "approve", text: "" };
  if (type === "ignore" && args === null) return { choice: "ignore", text: "" };
  if (type === "edit" && isPlain(args) && keysAre(args, "action", "args"))
    return { choice: "edit", text: JSON.stringify(args["args"]) };
  if (type === "response" && typeof args === "string") return { choice: "respond", text: args };
  return null;
}
