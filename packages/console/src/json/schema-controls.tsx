// Schema controls: the controls of single values in a form: numbers, choices, JSON.
import { useState, type ReactNode } from "react";
import { JsonEditor } from "./editor.tsx";
import { parseJson } from "./parse-json.ts";
import { isDate, localTime, parseNumber, zonedTime } from "./typed-input.ts";
import type { Json } from "./json.ts";
import type { Fault, FormField } from "./schema.ts";

export interface FieldProps {
  readonly field: FormField;
  readonly value: Json | undefined;
  readonly path: string;
  readonly faults: readonly Fault[];
  /** Undefined omits the member. NaN stands for text that is not a number. */
  readonly onChange: (value: Json | undefined) => void;
}

/** A value that the browser's input cannot show stays as text (schema.1). */
export function TimeInput({
  common,
  field,
  value,
  onChange,
}: {
  readonly common: object;
  readonly field: FormField;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}): ReactNode {
  const hasTime = field.control === "date_time";
  const text = typeof value === "string" ? value : "";
  const shown = hasTime ? localTime(text) : isDate(text) ? text : "";
  const change = (next: string): void => onChange(next === "" ? undefined : hasTime ? zonedTime(next) : next);
  return (
    <>
      <input
        {...common}
        type={hasTime ? "datetime-local" : "date"}
        value={shown}
        onChange={(event) => change(event.target.value)}
      />
      {text === "" || (shown === text && !hasTime) ? null : <span className="field-hint">Sent as {text}</span>}
    </>
  );
}

export function NumberInput({
  common,
  value,
  onChange,
}: {
  readonly common: object;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}): ReactNode {
  const shown = typeof value === "number" && Number.isFinite(value) ? String(value) : "";
  const [typed, setTyped] = useState<string | null>(null);
  const change = (text: string): void => {
    setTyped(text);
    onChange(text.trim() === "" ? undefined : parseNumber(text));
  };
  return (
    <input
      {...common}
      className="numeric"
      inputMode="decimal"
      value={typed ?? shown}
      onChange={(event) => change(event.target.value)}
      onBlur={() => typed !== null && Number.isFinite(parseNumber(typed)) && setTyped(null)}
    />
  );
}

const choiceText = (choice: Json): string =>
  choice === true ? "Yes" : choice === false ? "No" : typeof choice === "string" ? choice : JSON.stringify(choice);

export function Choice({
  common,
  field,
  choices,
  value,
  onChange,
}: {
  readonly common: object;
  readonly field: FormField;
  readonly choices: readonly Json[];
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}): ReactNode {
  const at = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(value));
  return (
    <select {...common} value={at} onChange={(event) => onChange(choices[Number(event.target.value)])}>
      {at === -1 || !field.required ? <option value={-1}>{field.required ? "Choose…" : "Not set"}</option> : null}
      {choices.map((choice, index) => (
        <option key={JSON.stringify(choice)} value={index}>
          {choiceText(choice)}
        </option>
      ))}
    </select>
  );
}

export function JsonField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}): ReactNode {
  const [fault, setFault] = useState<string | null>(null);
  const change = (text: string): void => {
    if (text.trim() === "") {
      setFault(null);
      return onChange(undefined);
    }
    const parsed = parseJson(text);
    setFault(parsed.ok ? null : parsed.error);
    onChange(parsed.ok ? (parsed.value as Json) : Number.NaN);
  };
  return (
    <>
      <JsonEditor initial={value === undefined ? "" : JSON.stringify(value, null, 2)} label={label} onChange={change} />
      {fault === null ? null : <span className="field-error">{fault}</span>}
    </>
  );
}
