// Confirm dialog: shows the answer exactly as sent. Enter confirms, but for a dangerous answer: there the focus is on
// Cancel, Ctrl+Enter or the button confirms, and a preference asks for the name of the action first.
import { useState, type ReactNode } from "react";
import { typesName } from "../hooks/preferences.ts";
import { useValue } from "../hooks/value.ts";
import { Button, Chip, Field, type Tone } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
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
    <Dialog
      title={title}
      {...(dangerous ? { description: "The request is marked as dangerous." } : {})}
      wide
      onClose={onClose}
      shortcuts={dangerous ? [] : [{ keys: "Enter", label: "Confirm", run: confirm, once: true }]}
      footer={
        <>
          {curl}
          <span className="spread" />
          <Button hint="Esc" autoFocus={dangerous && !asksName} form={FORM} onClick={onClose}>
            Cancel
          </Button>
          {/* A harmless answer is there to be confirmed, and Enter does that wherever the focus was. */}
          <Button
            {...(dangerous ? ({ kind: "danger", icon: "warning", hint: "Ctrl ↵" } as const) : CONFIRM)}
            autoFocus={!dangerous}
            submit
            form={FORM}
            disabled={isHeld}
          >
            Confirm
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          confirm();
        }}
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
      </form>
    </Dialog>
  );
}

const FORM = "confirm-answer";
const CONFIRM = { kind: "primary", icon: "check", "aria-keyshortcuts": "Enter" } as const;

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
