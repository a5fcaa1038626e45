// Remember: the answer of an item is also a policy for later questions, with conditions that the person may change.
import { type ReactNode, useState } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Remember as Remembered } from "@holdpoint/api/policies.ts";
import { useRefusal } from "../api/caller.ts";
import { JsonField } from "../frames/edit-dialog.tsx";
import { type Json, isObject } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";
import { Field } from "../ui/controls.tsx";
import type { Request } from "./model/request.ts";

const TEXT_MAX = 1000;

/** Null: the answer is not remembered. `fault`: it cannot be sent so. */
export interface RememberChoice {
  readonly remember: Remembered | null;
  readonly fault: string | null;
}

export const NOT_REMEMBERED: RememberChoice = { remember: null, fault: null };

export function Remember({
  item,
  request,
  onChange,
}: {
  readonly item: InboxItem;
  readonly request: Request;
  readonly onChange: (choice: RememberChoice) => void;
}): ReactNode {
  const refusal = useRefusal("policies:create");
  const [start] = useState(() => JSON.stringify(startConditions(item, request), null, 2));
  const [state, setState] = useState({ on: false, scope: "assistant" as Remembered["scope"], text: start });
  const set = (change: Partial<typeof state>): void => {
    const next = { ...state, ...change };
    setState(next);
    onChange(readChoice(next));
  };
  if (refusal !== null || request.kind === "breakpoint") return null;
  const { on, scope, text } = state;
  return (
    <div className="remember">
      <label className="check">
        <input type="checkbox" checked={on} onChange={(event) => set({ on: event.target.checked })} />
        Remember this answer
      </label>
      {on ? (
        <>
          <Field
            label="For"
            hint="Later questions that fit get this answer at once, in your name. The page Policies revokes it."
          >
            <select value={scope} onChange={(event) => set({ scope: event.target.value as Remembered["scope"] })}>
              <option value="thread">this thread</option>
              <option value="assistant">all threads of this assistant</option>
              <option value="metadata">all threads with the metadata below</option>
            </select>
          </Field>
          <JsonField
            label="Conditions"
            initial={start}
            error={readChoice({ on, scope, text }).fault}
            onChange={(next) => set({ text: next })}
          />
        </>
      ) : null}
    </div>
  );
}

function readChoice({
  on,
  scope,
  text,
}: {
  readonly on: boolean;
  readonly scope: Remembered["scope"];
  readonly text: string;
}): RememberChoice {
  if (!on) return NOT_REMEMBERED;
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value)
    ? { remember: { scope, match: parsed.value }, fault: null }
    : { remember: null, fault: "The conditions are no JSON object." };
}

/** The narrowest ones: the arguments as they are. */
function startConditions({ value }: InboxItem, request: Request): Readonly<Record<string, Json>> {
  if (request.kind !== "actions")
    return typeof value === "string" && value.length <= TEXT_MAX ? { payload: value } : {};
  const [only, ...others] = request.actions;
  if (only === undefined || others.length > 0 || !isObject(only.args)) return {};
  const scalars = Object.entries(only.args).filter(
    ([name, arg]) => name !== "" && !name.includes(".") && (arg === null || typeof arg !== "object") && !isLong(arg),
  );
  return Object.fromEntries(scalars.map(([name, arg]) => [`args.${name}`, arg]));
}

const isLong = (arg: Json): boolean => typeof arg === "string" && arg.length > TEXT_MAX;
