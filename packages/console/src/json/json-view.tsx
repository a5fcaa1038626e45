// JSON view: a value as a collapsible tree. Long texts and lists are truncated, and expand on request.
import { useState, type ReactNode } from "react";
import { confusable } from "@holdpoint/api/text/visible-text.ts";
import { CopyButton } from "../ui/copy.tsx";
import { Doubt, Visible } from "../text/visible.tsx";

const TEXT_SHOWN_MAX = 600;
const MEMBERS_SHOWN_MAX = 100;

export function JsonView({
  value,
  label = "JSON",
  openLevels = 2,
}: {
  readonly value: unknown;
  readonly label?: string;
  readonly openLevels?: number;
}): ReactNode {
  return (
    <div className="json" role="group" aria-label={label}>
      <div className="json-copy">
        <CopyButton text={() => JSON.stringify(value, null, 2) ?? ""} what={label} />
      </div>
      <Node name={null} value={value} level={0} openLevels={openLevels} />
    </div>
  );
}

const NAMES_COMPARED_MAX = 1000;
const NO_DOUBTS: ReadonlyMap<string, string> = new Map();

interface NodeProps {
  readonly name: string | null;
  readonly doubt?: string | undefined;
  readonly value: unknown;
  readonly level: number;
  readonly openLevels: number;
}

function Node({ name, doubt, value, level, openLevels }: NodeProps): ReactNode {
  const key =
    name === null ? null : (
      <>
        <span className="json-key">
          <Visible text={name} />:{" "}
        </span>
        <Doubt reason={doubt} />
      </>
    );
  if (typeof value !== "object" || value === null) {
    return (
      <div className="json-line">
        {key}
        <Scalar value={value} />
      </div>
    );
  }
  return <Members name={key} value={value} level={level} openLevels={openLevels} />;
}

function Members({
  name,
  value,
  level,
  openLevels,
}: Omit<NodeProps, "name" | "doubt" | "value"> & {
  readonly name: ReactNode;
  readonly value: object;
}): ReactNode {
  const [open, setOpen] = useState(level < openLevels);
  const [all, setAll] = useState(false);
  const entries = Object.entries(value);
  const brackets = Array.isArray(value) ? "[]" : "{}";
  if (entries.length === 0) {
    return (
      <div className="json-line">
        {name}
        <span className="json-mark">{brackets}</span>
      </div>
    );
  }
  const shown = all ? entries : entries.slice(0, MEMBERS_SHOWN_MAX);
  const isNamed = !Array.isArray(value) && entries.length <= NAMES_COMPARED_MAX;
  const doubts = isNamed ? confusable(Object.keys(value)) : NO_DOUBTS;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className="json-members">
      <summary className="json-line">
        {name}
        <span className="json-mark">
          {brackets[0]}
          {open ? "" : ` ${entries.length} ${brackets[1] ?? ""}`}
        </span>
      </summary>
      {open ? (
        <div className="json-inside">
          {shown.map(([key, member]) => (
            <Node
              key={key}
              name={key}
              doubt={doubts.get(key)}
              value={member}
              level={level + 1}
              openLevels={openLevels}
            />
          ))}
          {shown.length < entries.length ? (
            <button type="button" className="text-button" onClick={() => setAll(true)}>
              Show all {entries.length}
            </button>
          ) : null}
        </div>
      ) : null}
    </details>
  );
}

function Scalar({ value }: { readonly value: unknown }): ReactNode {
  const [all, setAll] = useState(false);
  if (typeof value !== "string") return <span className={`json-${typeof value}`}>{String(value)}</span>;
  if (all || value.length <= TEXT_SHOWN_MAX) {
    return (
      <span className="json-string">
        <Visible text={JSON.stringify(value)} />
      </span>
    );
  }
  return (
    <span className="json-string">
      <Visible text={JSON.stringify(value.slice(0, TEXT_SHOWN_MAX).toWellFormed()).slice(0, -1)} />…{" "}
      <button type="button" className="text-button" onClick={() => setAll(true)}>
        Show all {value.length} characters
      </button>
    </span>
  );
}
