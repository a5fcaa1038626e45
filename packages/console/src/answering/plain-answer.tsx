// Plain answer: a question without a schema. The answer is a text, a number, yes or no, or any JSON.
import { type ReactNode, useEffect, useState } from "react";
import { ANSWER_FORM, useShortcuts } from "../hooks/shortcuts.ts";
import { JsonEditor } from "../json/editor.tsx";
import { LARGE_UNITS } from "../json/excerpt.ts";
import { type Json, isObject } from "../json/json.ts";
import { parseNumber } from "../json/typed-input.ts";
import { parseJson } from "../json/parse-json.ts";
import { isPicture } from "../text/picture.ts";
import { Button } from "../ui/controls.tsx";
import { sendLabel, type EditorProps } from "./editor-props.ts";
import { focusForm } from "./form-answer.tsx";

const TYPES = ["Text", "Number", "Yes or no", "JSON"] as const;
type Type = (typeof TYPES)[number];

const NOTHING_TYPED = "Type an answer first, or choose the empty text.";

export function PlainAnswer({
  payload,
  item,
  onReview,
  confirms,
  wanted,
  undone,
}: EditorProps & { readonly payload: Json }): ReactNode {
  const [type, setType] = useState<Type>(() => nameType(undone));
  const [text, setText] = useState(() => formatAnswer(undone));
  /** The payload text that the answer started from: the confirmation shows the changes. */
  const [source, setSource] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const review = (given?: Json): void => {
    const value = given === undefined ? readTyped(type, text) : { ok: true as const, value: given };
    setFault(value.ok ? null : value.error);
    if (!value.ok) return;
    const before = source !== null && typeof value.value === "string" ? source : undefined;
    const after = value.value as Json;
    onReview({ label: `Answer ${item.title}`, resume: after, parts: [{ kind: "value", before, after }] });
  };
  useShortcuts("This item", [
    {
      keys: "a",
      label: sendLabel(confirms),
      run: () => (text === "" ? focusForm() : review()),
      once: true,
      form: ANSWER_FORM,
    },
    { keys: "e", label: "Focus the answer", run: focusForm, form: ANSWER_FORM },
  ]);
  useEffect(() => {
    if (wanted === "approve" || wanted === "edit") focusForm();
  }, [wanted]);
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        review();
      }}
    >
      <h3>Answer</h3>
      <Choices choices={choicesIn(payload)} onChoose={review} />
      <div className="switch" role="group" aria-label="Type of the answer">
        {TYPES.map((one) => (
          <button key={one} type="button" aria-pressed={type === one} onClick={() => setType(one)}>
            {one}
          </button>
        ))}
      </div>
      <Input type={type} text={text} onChange={setText} onChoose={review} />
      {type === "Text" ? (
        <StartingTexts
          texts={textsIn(payload)}
          onChoose={(value) => {
            setText(value);
            setSource(value);
          }}
        />
      ) : null}
      {fault === null ? null : (
        <span className="field-error" role="alert">
          {fault}
        </span>
      )}
      {type === "Yes or no" ? null : (
        <Foot label={sendLabel(confirms)} onEmpty={type === "Text" && text === "" ? () => review("") : null} />
      )}
    </form>
  );
}

/** @param onEmpty sends the empty text, which pressing Send with nothing typed does not; null where it is no answer */
function Foot({ label, onEmpty }: { readonly label: string; readonly onEmpty: (() => void) | null }): ReactNode {
  return (
    <div className="answer-foot">
      <Button kind="primary" submit>
        {label}
      </Button>
      {onEmpty === null ? null : (
        <button type="button" className="text-button" onClick={onEmpty}>
          Answer with an empty text
        </button>
      )}
    </div>
  );
}

/** Buttons that answer at once. */
function Choices({
  choices,
  onChoose,
}: {
  readonly choices: readonly Json[];
  readonly onChoose: (choice: Json) => void;
}): ReactNode {
  if (choices.length === 0) return null;
  return (
    <div className="actions" role="group" aria-label="Choices">
      {choices.map((choice) => (
        <Button key={JSON.stringify(choice)} onClick={() => onChoose(choice)}>
          {typeof choice === "string" ? choice : JSON.stringify(choice)}
        </Button>
      ))}
    </div>
  );
}

function StartingTexts({
  texts,
  onChoose,
}: {
  readonly texts: readonly (readonly [name: string, text: string])[];
  readonly onChoose: (text: string) => void;
}): ReactNode {
  if (texts.length === 0) return null;
  return (
    <div className="actions small">
      <span className="muted">Start from</span>
      {texts.map(([name, value]) => (
        <button key={name} type="button" className="text-button" onClick={() => onChoose(value)}>
          {name}
        </button>
      ))}
    </div>
  );
}

function Input({
  type,
  text,
  onChange,
  onChoose,
}: {
  readonly type: Type;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onChoose: (value: Json) => void;
}): ReactNode {
  switch (type) {
    case "Text":
      if (text.length > LARGE_UNITS) return <JsonEditor plain initial={text} label="Answer" onChange={onChange} />;
      return <textarea aria-label="Answer" value={text} onChange={(event) => onChange(event.target.value)} />;
    case "Number":
      return (
        <input
          aria-label="Answer"
          inputMode="decimal"
          className="numeric"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case "Yes or no":
      return (
        <div className="actions">
          <Button onClick={() => onChoose(true)}>Yes</Button>
          <Button onClick={() => onChoose(false)}>No</Button>
        </div>
      );
    case "JSON":
      return <JsonEditor initial={text} label="Answer" onChange={onChange} />;
    default:
      return type satisfies never;
  }
}

/** Type and text of an answer that was given before. */
function nameType(answer: Json | undefined): Type {
  if (answer === undefined || typeof answer === "string") return "Text";
  if (typeof answer === "number") return "Number";
  return typeof answer === "boolean" ? "Yes or no" : "JSON";
}

function formatAnswer(answer: Json | undefined): string {
  if (answer === undefined) return "";
  return typeof answer === "string" ? answer : JSON.stringify(answer, null, 2);
}

function readTyped(type: Type, text: string): ReturnType<typeof parseJson> {
  if (type === "Text") return text === "" ? { ok: false, error: NOTHING_TYPED } : { ok: true, value: text };
  if (type === "JSON") return parseJson(text);
  const number = parseNumber(text);
  return Number.isFinite(number) ? { ok: true, value: number } : { ok: false, error: "Not a number." };
}

const CHOICE_NAMES = ["options", "choices", "actions"];
const CHOICES_MAX = 12;

/** Answers that the payload itself offers. */
function choicesIn(payload: Json): readonly Json[] {
  if (!isObject(payload)) return [];
  const list = CHOICE_NAMES.map((name) => payload[name]).find(Array.isArray) as readonly Json[] | undefined;
  const scalars = (list ?? []).filter((one) => typeof one === "string" || typeof one === "number");
  return scalars.length === list?.length ? scalars.slice(0, CHOICES_MAX) : [];
}

const QUESTION_NAMES = ["question", "message", "prompt", "description", "title"];
const TEXTS_MAX = 4;

/** Payload texts that an answer may revise. */
function textsIn(payload: Json): readonly (readonly [name: string, text: string])[] {
  if (!isObject(payload)) return [];
  return Object.entries(payload)
    .filter((entry): entry is [string, string] => typeof entry[1] === "string" && !QUESTION_NAMES.includes(entry[0]))
    .filter(([, text]) => !isPicture(text))
    .slice(0, TEXTS_MAX);
}
