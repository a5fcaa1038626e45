// Value table: the members of an object, one row each. Nested values appear as JSON.
import type { ReactNode } from "react";
import { isObject } from "./json.ts";
import { JsonView } from "./json-view.tsx";

const LONG_UNITS = 400;

export function ValueTable({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  if (!isObject(value) || Object.keys(value).length === 0) return <Value value={value} label={label} />;
  return (
    <dl className="value-table" aria-label={label}>
      {Object.entries(value).map(([name, member]) => (
        <div key={name} className="value-row">
          <dt>{name}</dt>
          <dd>
            <Value value={member} label={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  if (typeof value === "string") {
    return value.length > LONG_UNITS ? <LongText text={value} /> : <span className="prewrap">{value}</span>;
  }
  if (typeof value === "object" && value !== null) return <JsonView value={value} label={label} />;
  return <span className={`mono json-${typeof value}`}>{String(value)}</span>;
}

function LongText({ text }: { readonly text: string }): ReactNode {
  return (
    <details>
      <summary>
        {text.slice(0, LONG_UNITS).toWellFormed()}… ({text.length} characters)
      </summary>
      <pre>{text}</pre>
    </details>
  );
}
