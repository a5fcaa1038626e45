// JSON diff: the changes between two values, one row per member. Changed texts highlight the changed words.
import type { ReactNode } from "react";
import { listChanges, textPieces, type Change } from "./diff.ts";
import { confusable, hasHidden } from "@holdpoint/api/text/visible-text.ts";
import { glance, isLarge } from "../json/excerpt.ts";
import { LargeDiff } from "./large-diff.tsx";
import { Doubt, Visible } from "../text/visible.tsx";

const ROWS_MAX = 200;
const VALUE_UNITS_MAX = 2000;

interface DiffProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly none?: string;
}

export function JsonDiff(props: DiffProps): ReactNode {
  const { before, after } = props;
  return isLarge(before) || isLarge(after) ? <LargeDiff before={before} after={after} /> : <MemberDiff {...props} />;
}

function MemberDiff({ before, after, none = "No changes." }: DiffProps): ReactNode {
  const changes = listChanges(before, after);
  if (changes.length === 0) return <p className="muted">{none}</p>;
  return (
    <div className="diff" role="group" aria-label="Changes">
      {changes.slice(0, ROWS_MAX).map((change) => (
        <div key={change.path} className="diff-row">
          <code className="diff-path">
            <Visible text={change.path === "" ? "value" : change.path} />
            <Doubt reason={describeDoubt(change.path)} />
          </code>
          <Values {...change} />
        </div>
      ))}
      {changes.length > ROWS_MAX ? <p className="muted">And {changes.length - ROWS_MAX} more.</p> : null}
    </div>
  );
}

/** A path names its member only: it has no siblings to compare with. */
const describeDoubt = (path: string): string | undefined =>
  hasHidden(path) ? undefined : confusable([path]).get(path);

function Values({ kind, before, after }: Change): ReactNode {
  if (kind === "changed" && typeof before === "string" && typeof after === "string") {
    return (
      <span className="diff-text">
        {textPieces(before, after).map((piece, at) => {
          const key = `${at}${piece.kind}`;
          if (piece.kind === "same") return <Visible key={key} text={piece.text} />;
          const shown = <Visible text={piece.text} />;
          return piece.kind === "removed" ? <del key={key}>{shown}</del> : <ins key={key}>{shown}</ins>;
        })}
      </span>
    );
  }
  return (
    <span className="diff-text">
      {kind === "added" ? null : <del>{formatValue(before)}</del>}
      {kind === "changed" ? <span aria-hidden="true"> → </span> : null}
      {kind === "removed" ? null : <ins>{formatValue(after)}</ins>}
    </span>
  );
}

const formatValue = (value: unknown): string => glance(JSON.stringify(value) ?? "", VALUE_UNITS_MAX);
