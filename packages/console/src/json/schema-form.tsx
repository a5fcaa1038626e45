// Schema form: fields for a value of a JSON Schema (json/schema.ts). The form's state is the value itself; each field
// keeps its incomplete input, such as "1.".
import { useId, type ReactNode } from "react";
import { Button, IconButton } from "../ui/controls.tsx";
import { HiddenCharacters } from "../text/visible.tsx";
import { isObject, type Json } from "./json.ts";
import { buildInitial, type FormField } from "./schema.ts";
import { type FieldProps, NumberInput, TimeInput, Choice, JsonField } from "./schema-controls.tsx";

/** @param faults appear at their fields. */
export function SchemaForm({ field, value, faults, onChange }: Omit<FieldProps, "path">): ReactNode {
  return (
    <div className="form">
      <AnyField field={field} value={value} path="" faults={faults} onChange={onChange} />
    </div>
  );
}

function AnyField(props: FieldProps): ReactNode {
  const { field, path, value, faults, onChange } = props;
  if (field.control === "group") return <Group {...props} />;
  const id = `form${path === "" ? "" : `-${path}`}`;
  return (
    <Labelled field={field} id={id} fault={faults.find((fault) => fault.path === path)?.message ?? null}>
      {field.nullable && field.control !== "json" ? (
        <Check
          isOn={value === null}
          label="no value (null)"
          of={field.label}
          onChange={(isNull) => onChange(isNull ? null : buildInitial({ ...field, required: true }))}
        />
      ) : null}
      {value === null && field.nullable && field.control !== "json" ? null : <Control {...props} id={id} />}
    </Labelled>
  );
}

function Labelled({
  field,
  id,
  fault,
  children,
}: {
  readonly field: FormField;
  readonly id: string;
  readonly fault: string | null;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {field.label === "" ? "Answer" : field.label}
        {field.required ? null : <span className="muted"> (optional)</span>}
      </label>
      {children}
      {field.description === null ? null : <span className="field-hint">{field.description}</span>}
      {fault === null ? null : (
        <span className="field-error" id={`${id}-fault`}>
          {field.label === "" ? "Answer" : field.label} {fault}
        </span>
      )}
    </div>
  );
}

/** A choice that states an answer which typing cannot: the empty text, or null. */
function Check({
  isOn,
  label,
  of,
  onChange,
}: {
  readonly isOn: boolean;
  readonly label: string;
  /** Label of the field. */
  readonly of: string;
  readonly onChange: (isOn: boolean) => void;
}): ReactNode {
  return (
    <label className="check small">
      <input
        type="checkbox"
        aria-label={`${of === "" ? "Answer" : of}: ${label}`}
        checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}

function Control(props: FieldProps & { readonly id: string }): ReactNode {
  const { field, value, path, faults, onChange, id } = props;
  const isWrong = faults.some((fault) => fault.path === path);
  const common = {
    id,
    ...(isWrong ? { "aria-invalid": true as const, "aria-describedby": `${id}-fault` } : {}),
    "aria-required": field.required,
  };
  switch (field.control) {
    case "text":
    case "long_text": {
      const text = typeof value === "string" ? value : "";
      const change = (next: string): void => onChange(next === "" ? undefined : next);
      return (
        <>
          {field.control === "text" ? (
            <input {...common} value={text} onChange={(event) => change(event.target.value)} />
          ) : (
            <textarea {...common} value={text} onChange={(event) => change(event.target.value)} />
          )}
          <HiddenCharacters text={text} />
          {text === "" && field.required ? (
            <Check
              isOn={value === ""}
              label="empty text"
              of={field.label}
              onChange={(isOn) => onChange(isOn ? "" : undefined)}
            />
          ) : null}
        </>
      );
    }
    case "date":
    case "date_time":
      return <TimeInput common={common} field={field} value={value} onChange={onChange} />;
    case "number":
    case "integer":
      return <NumberInput common={common} value={value} onChange={onChange} />;
    case "boolean":
      return <Choice common={common} field={field} choices={[true, false]} value={value} onChange={onChange} />;
    case "choice":
      return <Choice common={common} field={field} choices={field.choices} value={value} onChange={onChange} />;
    case "list":
      return <List {...props} />;
    case "json":
      return <JsonField label={field.label} value={value} onChange={onChange} />;
    case "group":
      return null; // has no control of its own
    default:
      return field.control satisfies never;
  }
}

function List({ field, value, path, faults, onChange, id }: FieldProps & { readonly id: string }): ReactNode {
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  const [item] = field.fields;
  if (item === undefined) return null;
  const put = (at: number, next: Json | undefined): void =>
    onChange(items.map((old, index) => (index === at ? (next ?? "") : old)));
  return (
    <div className="form-list" role="group" aria-label={field.label} id={id}>
      {items.map((one, at) => {
        const own = { ...item, label: `${field.label} ${at + 1}` };
        return (
          // Entries have no identity except their index.
          <div className="form-entry" key={at}>
            <AnyField
              field={own}
              value={one}
              path={`${path}[${at}]`}
              faults={faults}
              onChange={(next) => put(at, next)}
            />
            <IconButton
              icon="cross"
              label={`Remove ${own.label}`}
              onClick={() => {
                const rest = items.filter((_, index) => index !== at);
                onChange(rest.length === 0 && !field.required ? undefined : rest);
              }}
            />
          </div>
        );
      })}
      <Button
        kind="quiet"
        onClick={() =>
          onChange([...items, buildInitial(item) ?? item.choices[0] ?? (item.control === "boolean" ? false : "")])
        }
      >
        Add {field.label}
      </Button>
    </div>
  );
}

function Group({ field, value, path, faults, onChange }: FieldProps): ReactNode {
  const id = useId();
  const members = isObject(value) ? value : {};
  const put = (name: string, next: Json | undefined): void => {
    const { [name]: _old, ...rest } = members;
    // An optional object without members is not sent.
    if (next === undefined) return onChange(Object.keys(rest).length === 0 && !field.required ? undefined : rest);
    onChange(Object.hasOwn(members, name) ? { ...members, [name]: next } : { ...rest, [name]: next });
  };
  const fields = field.fields.map((member) => (
    <AnyField
      key={member.name}
      field={member}
      value={members[member.name]}
      path={path === "" ? member.name : `${path}.${member.name}`}
      faults={faults}
      onChange={(next) => put(member.name, next)}
    />
  ));
  if (path === "") return <>{fields}</>;
  return (
    <fieldset className="form-group" aria-describedby={field.description === null ? undefined : id}>
      <legend>
        {field.label}
        {field.required ? null : <span className="muted"> (optional)</span>}
      </legend>
      {field.description === null ? null : (
        <p className="field-hint" id={id}>
          {field.description}
        </p>
      )}
      {fields}
    </fieldset>
  );
}

/** A value with NaN contains invalid input: do not send it. */
export function isWhole(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isWhole);
}

export const NOT_WHOLE = "Correct the invalid input first.";
