// Try body: the form's input → the request that starts the run. Pure.
import { LIVE_STREAM } from "../../api/live-stream.ts";
import type { Json } from "../../json/json.ts";
import { parseJson } from "../../json/parse-json.ts";

/** A value in its input form: a message, form fields, JSON, or nothing yet. */
export type Entry =
  | { readonly kind: "none" }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "form"; readonly value: Json | undefined; readonly isWhole: boolean }
  | { readonly kind: "json"; readonly text: string };

export type Entered = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

/** No input becomes an empty object, which starts a graph without an input. */
export function enterValue(entry: Entry): Entered {
  switch (entry.kind) {
    case "none":
      return { ok: true, value: {} };
    case "message":
      return entry.text.trim() === ""
        ? { ok: false }
        : { ok: true, value: { messages: [{ role: "user", content: entry.text }] } };
    case "form":
      return entry.isWhole ? { ok: true, value: entry.value ?? {} } : { ok: false };
    case "json": {
      const parsed = parseJson(entry.text);
      return parsed.ok ? parsed : { ok: false };
    }
    default:
      return entry satisfies never;
  }
}

export interface TryOptions {
  /** "": a new thread. */
  readonly thread: string;
  /** "": server default; the same below. */
  readonly durability: string;
  readonly multitask: string;
  readonly onPaused: string;
}

export interface TryForm {
  readonly assistantId: string;
  readonly input: Entry;
  readonly context: Entry;
  readonly options: TryOptions;
  readonly stops: { readonly before: readonly string[]; readonly after: readonly string[] };
}

export function tryBody({
  assistantId,
  input,
  context,
  options: { durability, multitask, onPaused },
  stops,
}: TryForm): Readonly<Record<string, unknown>> {
  const [givenInput, givenContext] = [enterValue(input), enterValue(context)];
  return {
    assistant_id: assistantId,
    input: givenInput.ok ? givenInput.value : null,
    ...(context.kind === "none" || !givenContext.ok ? {} : { context: givenContext.value }),
    ...(stops.before.length === 0 ? {} : { interrupt_before: trimNodes(stops.before) }),
    ...(stops.after.length === 0 ? {} : { interrupt_after: trimNodes(stops.after) }),
    ...(durability === "" ? {} : { durability }),
    ...(multitask === "" ? {} : { multitask_strategy: multitask }),
    ...(onPaused === "" ? {} : { on_paused: onPaused }),
    ...LIVE_STREAM,
  };
}

function trimNodes(names: readonly string[]): readonly string[] | "*" {
  const trimmed = names.map((name) => name.trim()).filter((name) => name !== "");
  return trimmed.includes("*") ? "*" : trimmed;
}
