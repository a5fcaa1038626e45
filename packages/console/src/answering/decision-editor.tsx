// Decision editor: the input of one decision: edited arguments, or a message.
import { type ReactNode, useEffect, useRef } from "react";
import type { Json } from "../json/json.ts";
import { type Action, type Decision, readMessage } from "./model/request.ts";
import { ArgsEditor } from "./args-editor.tsx";

export function DecisionEditor({
  action,
  decision,
  onChange,
  onFault,
}: {
  readonly action: Action;
  readonly decision: Decision | null;
  readonly onChange: (decision: Decision) => void;
  readonly onFault: (isFaulty: boolean) => void;
}): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  // Moves the focus to the input after choosing edit or a message.
  useEffect(() => place.current?.querySelector<HTMLElement>("textarea, input, select")?.focus(), []);
  if (decision === null) return null;
  if (decision.type === "edit") {
    const change = (args: Json): void => onChange({ type: "edit", args });
    return (
      <div className="decision-editor" ref={place}>
        <ArgsEditor
          before={action.args}
          value={decision.args}
          schema={action.argsSchema}
          label={`Arguments of ${action.name}`}
          onChange={change}
          onFault={onFault}
        />
      </div>
    );
  }
  const message = readMessage(decision);
  if (message === null) return null;
  const label = decision.type === "reject" ? "Why (goes to the assistant)" : "Your response";
  return (
    <div ref={place}>
      <label className="field">
        <span className="field-label">{label}</span>
        <textarea
          value={message}
          onChange={({ target: { value } }) =>
            onChange(decision.type === "reject" ? { type: "reject", message: value } : { type: "respond", value })
          }
        />
      </label>
    </div>
  );
}
