// Large diff: the changed lines of a large value, computed in a worker while the page stays responsive.
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Visible } from "../text/visible.tsx";
import { Failure, Loading } from "../ui/controls.tsx";
import type { LineChange } from "./line-diff.ts";

interface Result {
  readonly count: number;
  readonly changes: readonly LineChange[];
}

const AFTER_TYPING_MS = 300;

export function LargeDiff({ before, after }: { readonly before: unknown; readonly after: unknown }): ReactNode {
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
