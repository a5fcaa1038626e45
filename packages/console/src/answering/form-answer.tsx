// Form answer: an answer with a JSON Schema, as a form or as JSON.
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { ANSWER_FORM, useShortcuts } from "../hooks/shortcuts.ts";
import { JsonEditor } from "../json/editor.tsx";
import type { Json, JsonObject } from "../json/json.ts";
import { loadPatterns } from "../json/patterns.ts";
import { parseJson } from "../json/parse-json.ts";
import { SchemaForm, isWhole } from "../json/schema-form.tsx";
import { findFaults, toField, buildInitial, withoutEmpty, type Fault, type FormField } from "../json/schema.ts";
import { Button } from "../ui/controls.tsx";
import { sendLabel, type EditorProps } from "./editor-props.ts";

export function FormAnswer({
  schema,
  item,
  onReview,
  confirms,
  wanted,
  undone,
}: EditorProps & { readonly schema: JsonObject }): ReactNode {
  const field = useMemo(() => toField(schema), [schema]);
  const [value, setValue] = useState<Json | undefined>(() => undone ?? buildInitial(field));
  const [tried, setTried] = useState(false);
  const [asJson, setAsJson] = useState(field.control === "json");
  const [broken, setBroken] = useState<string | null>(null);
  const checksPatterns = usePatterns(schema);
  const faults = useMemo(() => findFaults(field, value), [field, value, checksPatterns]);
  const review = (): void => {
    setTried(true);
    if (value === undefined || broken !== null || faults.length > 0 || !isWhole(value)) return focusFault();
    const answer = asJson ? value : withoutEmpty(field, value);
    onReview({
      label: `Answer ${item.title}`,
      resume: answer,
      parts: [{ kind: "value", before: undefined, after: answer }],
    });
  };
  useShortcuts("This item", [
    { keys: "a", label: sendLabel(confirms), run: review, once: true, form: ANSWER_FORM },
    { keys: "e", label: "Focus the form", run: focusForm, form: ANSWER_FORM },
  ]);
  useEffect(() => {
    if (wanted === "approve" || wanted === "edit") focusForm();
  }, [wanted]);
  const type = (text: string): void => {
    const parsed = parseJson(text);
    setBroken(parsed.ok ? null : parsed.error);
    if (parsed.ok) setValue(parsed.value as Json);
  };
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        review();
      }}
    >
      <div className="row">
        <h3>Answer</h3>
        {field.control === "json" ? null : (
          <button
            type="button"
            className="text-button spread"
            onClick={() => (isWhole(value) ? setAsJson(!asJson) : setTried(true))}
          >
            {asJson ? "As a form" : "As JSON"}
          </button>
        )}
      </div>
      <Fields
        field={field}
        value={value}
        faults={tried ? faults : []}
        broken={asJson ? broken : null}
        onType={asJson ? type : null}
        onChange={setValue}
      />
      <div className="answer-foot">
        <Button kind="primary" submit>
          {sendLabel(confirms)}
        </Button>
      </div>
    </form>
  );
}

/** @param onType takes the answer as JSON; null: fields */
function Fields({
  field,
  value,
  faults,
  broken,
  onType,
  onChange,
}: {
  readonly field: FormField;
  readonly value: Json | undefined;
  readonly faults: readonly Fault[];
  readonly broken: string | null;
  readonly onType: ((text: string) => void) | null;
  readonly onChange: (value: Json | undefined) => void;
}): ReactNode {
  if (onType !== null) {
    return (
      <>
        <JsonEditor
          initial={value === undefined ? "" : JSON.stringify(value, null, 2)}
          label="Answer"
          onChange={onType}
        />
        {broken === null ? null : <span className="field-error">{broken}</span>}
        <Faults faults={faults.map(({ path, message }) => `${path} ${message}`)} />
      </>
    );
  }
  return (
    <>
      <SchemaForm field={field} value={value} faults={faults} onChange={onChange} />
      {faults.length > 1 ? (
        <span className="field-error" role="alert">
          {faults.length} fields need a correction.
        </span>
      ) : null}
    </>
  );
}

function Faults({ faults }: { readonly faults: readonly string[] }): ReactNode {
  return faults.map((fault) => (
    <span key={fault} className="field-error">
      {fault}
    </span>
  ));
}

/** True once the patterns of a schema can be checked. */
function usePatterns(schema: JsonObject): boolean {
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    if (!JSON.stringify(schema).includes('"pattern"')) return;
    loadPatterns().then(
      () => setLoaded(true),
      () => undefined, // the server checks them
    );
  }, [schema]);
  return isLoaded;
}

/** The first of all faults, which are all marked by then. */
function focusFault(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(".answer [aria-invalid=true]")?.focus());
}

export function focusForm(): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(".answer :is(input, textarea, select, .cm-content)")?.focus(),
  );
}
