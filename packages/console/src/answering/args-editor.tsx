// Args editor: a value as a form or as JSON, with the changes below. Types stay unchanged.
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { JsonDiff } from "../diff/json-diff.tsx";
import { ValueEditor } from "../json/editor.tsx";
import { isLarge } from "../json/excerpt.ts";
import { parseJson } from "../json/parse-json.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { isWhole, NOT_WHOLE, SchemaForm } from "../json/schema-form.tsx";
import { findFaults, toField, schemaOfValue } from "../json/schema.ts";

export function ArgsEditor({
  before,
  value,
  schema,
  label,
  onChange,
  onFault,
}: {
  readonly before: Json;
  readonly value: Json;
  /** Null: derives a schema from the value. */
  readonly schema: JsonObject | null;
  readonly label: string;
  readonly onChange: (value: Json) => void;
  readonly onFault: (isFaulty: boolean) => void;
}): ReactNode {
  const field = useMemo(() => toField(schema ?? schemaOfValue(before)), [schema, before]);
  const canForm = field.control === "group" && isObject(before) && !isLarge(before);
  const [asJson, setAsJson] = useState(!canForm);
  const [fault, setFault] = useState<string | null>(null);
  const faults = useMemo(() => findFaults(field, value), [field, value]);
  const isFaulty = fault !== null || (!asJson && faults.length > 0) || !isWhole(value);
  useEffect(() => onFault(isFaulty), [isFaulty]);
  const type = (text: string): void => {
    const parsed = parseJson(text);
    setFault(parsed.ok ? null : parsed.error);
    if (parsed.ok) onChange(parsed.value as Json);
  };
  return (
    <div className="stack">
      {canForm ? (
        <div className="switch" role="group" aria-label="Edit as">
          {[false, true].map((json) => (
            <button
              key={String(json)}
              type="button"
              aria-pressed={asJson === json}
              onClick={() => {
                if (!isWhole(value)) return setFault(NOT_WHOLE); // as JSON it would be null
                setAsJson(json);
                setFault(null);
              }}
            >
              {json ? "JSON" : "Form"}
            </button>
          ))}
        </div>
      ) : null}
      {asJson ? (
        <ValueEditor value={value} label={label} onChange={type} />
      ) : (
        <SchemaForm
          field={field}
          value={value}
          faults={faults}
          onChange={(next) => {
            setFault(null);
            onChange(next ?? null);
          }}
        />
      )}
      {fault === null ? null : <span className="field-error">{fault}</span>}
      <div>
        <h4 className="muted small">Changes</h4>
        <JsonDiff before={before} after={value} />
      </div>
    </div>
  );
}
