// JSON diff: the changes between two values, one row per member. Changed texts highlight the changed words.
import type { ReactNode } from "react";
import { changesOf, textPieces, type Change } from "./diff.ts";
import { glance } from "../ui/format.ts";

const ROWS_MAX = 200;
const VALUE_UNITS_MAX = 2000;

export function JsonDiff({
  before,
  after,
  none = "Nothing changes.",
}: {
  readonly before: unknown;
  readonly after: unknown;
  readonly none?: string;
}): ReactNode {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p className="muted">{none}</p>;
  return (
    <div className="diff" role="group" aria-label="Changes">
      {changes.slice(0, ROWS_MAX).map((change) => (
        <div key={change.path} className="diff-row">
          <code className="diff-path">{change.path === "" ? "value" : change.path}</code>
          <Values {...change} />
        </div>
      ))}
      {changes.length > ROWS_MAX ? <p className="muted">And {changes.length - ROWS_MAX} more.</p> : null}
    </div>
  );
}

function Values({ kind, before, after }: Change): ReactNode {
  if (kind === "changed" && typeof before === "string" && typeof after === "string") {
    return (
      <span className="diff-text">
        {textPieces(before, after).map((piece, at) => {
          const key = `${at}${piece.kind}`;
          if (piece.kind === "same") return <span key={key}>{piece.text}</span>;
          return piece.kind === "removed" ? <del key={key}>{piece.text}</del> : <ins key={key}>{piece.text}</ins>;
        })}
      </span>
    );
  }
  return (
    <span className="diff-text">
      {kind === "added" ? null : <del>{text(before)}</del>}
      {kind === "changed" ? <span aria-hidden="true"> → </span> : null}
      {kind === "removed" ? null : <ins>{text(after)}</ins>}
    </span>
  );
}

const text = (value: unknown): string => glance(JSON.stringify(value) ?? "", VALUE_UNITS_MAX);
