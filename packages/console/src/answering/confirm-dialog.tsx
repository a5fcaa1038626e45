// Confirm dialog: shows the answer exactly as sent. For a dangerous answer, a preference asks for the name of the action
// first.
import { useState, type ReactNode } from "react";
import { ConfirmFrame } from "../frames/confirm-frame.tsx";
import { typesName } from "../hooks/preferences.ts";
import { useValue } from "../hooks/value.ts";
import { Chip, Field, type Tone } from "../ui/controls.tsx";
import { JsonDiff } from "../diff/json-diff.tsx";
import { Visible } from "../text/visible.tsx";
import { JsonView } from "../json/json-view.tsx";
import { ValueTable } from "../json/value-table.tsx";
import { readMessage, type Decision } from "./model/request.ts";
import type { Draft, DraftPart } from "./model/draft.ts";

export function ConfirmDialog({
  title,
  draft,
  dangerous,
  curl,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly draft: Draft;
  /** The request says so. */
  readonly dangerous: boolean;
  readonly curl: ReactNode;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}): ReactNode {
  const asksName = useValue(typesName) && dangerous;
  const name = readName(draft);
  const [typed, setTyped] = useState("");
  const isHeld = asksName && typed.trim() !== name;
  const confirm = (): void => {
    if (!isHeld) onConfirm();
  };
  return (
    <ConfirmFrame
      title={title}
      description={dangerous ? "The request is marked as dangerous." : undefined}
      dangerous={dangerous}
      hasField={asksName}
      button={{ disabled: isHeld }}
      curl={curl}
      onConfirm={confirm}
      onClose={onClose}
    >
      {asksName ? (
        <Field label={`Type ${name} to confirm`}>
          <input autoFocus value={typed} onChange={(event) => setTyped(event.target.value)} />
        </Field>
      ) : null}
      {draft.parts.map((part, at) => (
        <PartView key={at} part={part} />
      ))}
      {draft.resume === undefined ? null : (
        <details className="fold">
          <summary>Answer as sent</summary>
          <JsonView value={draft.resume} label="the answer" openLevels={6} />
        </details>
      )}
    </ConfirmFrame>
  );
}

/** The name to type: of the first action that the answer lets happen, or of the node. */
function readName({ parts, label }: Draft): string {
  const [first] = parts;
  if (first?.kind === "decision") return first.action.name;
  return first?.kind === "text" ? first.title : (label.split(" ")[0] ?? "");
}

const TONES: Readonly<Record<Decision["type"], Tone>> = {
  approve: "green",
  edit: "accent",
  reject: "red",
  respond: "accent",
  ignore: "neutral",
};

const SAID: Readonly<Record<Decision["type"], string>> = {
  approve: "approve",
  edit: "approve with changes",
  reject: "reject",
  respond: "respond",
  ignore: "ignore",
};

export function PartView({ part }: { readonly part: DraftPart }): ReactNode {
  switch (part.kind) {
    case "text":
      return <p>{part.text}</p>;
    case "value":
      return part.before === undefined ? (
        <ValueTable value={part.after} label="Answer" />
      ) : (
        <JsonDiff before={part.before} after={part.after} none="The answer is the unchanged text." />
      );
    case "decision": {
      const { action, decision } = part;
      const message = readMessage(decision);
      return (
        <section className="confirm-part">
          <h3 className="row">
            <Chip tone={TONES[decision.type]}>{SAID[decision.type]}</Chip>
            <code>{action.name}</code>
          </h3>
          {decision.type === "edit" ? <JsonDiff before={action.args} after={decision.args} /> : null}
          {message === null ? null : (
            <p className="prewrap">{message === "" ? <em>without a message</em> : <Visible text={message} />}</p>
          )}
          {decision.type === "approve" ? (
            <ValueTable value={action.args} label={`Arguments of ${action.name}`} />
          ) : null}
        </section>
      );
    }
    default:
      return part satisfies never;
  }
}
