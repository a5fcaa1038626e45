// Value table: the members of an object, one row each. Nested values appear as JSON.
import { useState, type ReactNode } from "react";
import { confusable } from "@holdpoint/api/text/visible-text.ts";
import { CopyButton } from "../ui/copy.tsx";
import { LARGE_UNITS } from "./excerpt.ts";
import { Doubt, Visible } from "../text/visible.tsx";
import { isObject } from "./json.ts";
import { JsonView } from "./json-view.tsx";

const LONG_UNITS = 400;

export function ValueTable({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  if (!isObject(value) || Object.keys(value).length === 0) return <Value value={value} label={label} />;
  const doubts = confusable(Object.keys(value));
  return (
    <dl className="value-table" aria-label={label}>
      {Object.entries(value).map(([name, member]) => (
        <div key={name} className="value-row">
          <dt>
            <Visible text={name} />
            <Doubt reason={doubts.get(name)} />
          </dt>
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
    return value.length > LONG_UNITS ? (
      <LongText text={value} />
    ) : (
      <span className="prewrap">
        <Visible text={value} />
      </span>
    );
  }
  if (typeof value === "object" && value !== null) return <JsonView value={value} label={label} />;
  return <span className={`mono json-${typeof value}`}>{String(value)}</span>;
}

function LongText({ text }: { readonly text: string }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Visible text={text.slice(0, LONG_UNITS).toWellFormed()} />… ({text.length} characters)
      </summary>
      {open ? <Opened text={text} /> : null}
    </details>
  );
}

function Opened({ text }: { readonly text: string }): ReactNode {
  const isWhole = text.length <= LARGE_UNITS;
  return (
    <>
      <pre>
        <Visible text={isWhole ? text : `${text.slice(0, LARGE_UNITS).toWellFormed()}…`} />
      </pre>
      {isWhole ? null : (
        <p className="row muted small">
          The first {LARGE_UNITS} of {text.length} characters. <CopyButton text={text} what="the whole text" />
        </p>
      )}
    </>
  );
}
