// JSON diff: the changes between two values, one row per member. Changed texts highlight the changed words.
import { type ReactNode, useEffect, useRef, useState } from "react";
import { listChanges, textPieces, type Change } from "./diff.ts";
import { confusable, hasHidden } from "@holdpoint/api/text/visible-text.ts";
import { glance, isLarge } from "../json/excerpt.ts";
import { Doubt, Visible } from "../text/visible.tsx";
import { Failure, Loading } from "../ui/controls.tsx";
import type { LineChange } from "./line-diff.ts";

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

/** The changed lines of a large value, computed in a worker while the page stays responsive. */
interface Result {
  readonly count: number;
  readonly changes: readonly LineChange[];
}

const AFTER_TYPING_MS = 300;

function LargeDiff({ before, after }: { readonly before: unknown; readonly after: unknown }): ReactNode {
  const result = useWorker(before, after);
  if (result === null) return <Loading label="Comparing" />;
  if (result instanceof Error) return <Failure error={result} />;
  if (result.count === 0) return <p className="muted">No changes.</p>;
  return (
    <div className="diff" role="group" aria-label="Changes">
      {result.changes.map(({ line, removed, added }) => (
        <div key={line} className="diff-row">
          <code className="diff-path">line {line}</code>
          <span className="diff-text prewrap">
            {removed.length === 0 ? null : (
              <del>
                <Visible text={removed.join("\n")} />
              </del>
            )}
            {removed.length === 0 || added.length === 0 ? null : "\n"}
            {added.length === 0 ? null : (
              <ins>
                <Visible text={added.join("\n")} />
              </ins>
            )}
          </span>
        </div>
      ))}
      {result.count > result.changes.length ? (
        <p className="muted">And {result.count - result.changes.length} more changes.</p>
      ) : null}
    </div>
  );
}

/** Null while the worker computes the first result. */
function useWorker(before: unknown, after: unknown): Result | Error | null {
  const [result, setResult] = useState<Result | Error | null>(null);
  const worker = useRef<Worker | null>(null);
  useEffect(() => () => worker.current?.terminate(), []);
  useEffect(() => {
    const timer = setTimeout(() => {
      worker.current?.terminate(); // its result would be out of date
      const next = new Worker(new URL("./line-diff-worker.ts", import.meta.url), { type: "module" });
      next.addEventListener("message", ({ data }: MessageEvent<Result>) => setResult(data));
      next.addEventListener("error", () => setResult(new Error("The comparison failed.")));
      next.postMessage({ before, after }, { transfer: [] });
      worker.current = next;
    }, AFTER_TYPING_MS);
    return () => clearTimeout(timer);
  }, [before, after]);
  return result;
}
