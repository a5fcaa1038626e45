// Markdown: renders a graph's text. Untrusted: no HTML, no external images, links open in a new tab.
import { lazy, Suspense, type ReactNode } from "react";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { Visible } from "./visible.tsx";

/** Loads beside the page's data: tables and lists that appear later would move what is below them. */
const loading = import("./rendered-markdown.tsx");
loading.catch(() => undefined); // appears where it is used
const Rendered = lazy(() => loading);
const PLAIN = /^[^*_`#[\]<>|~\n]*$/;

export const hasMarks = (text: string): boolean => !PLAIN.test(text);

/** Text without markup skips the renderer. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  if (!hasMarks(text)) {
    return (
      <p dir="auto">
        <Visible text={text} />
      </p>
    );
  }
  return (
    <Suspense
      fallback={
        <p className="prewrap" dir="auto">
          {visible(text)}
        </p>
      }
    >
      <Rendered text={visible(text)} />
    </Suspense>
  );
}
