// Markdown: renders a graph's text. Untrusted: no HTML, no external images, links open in a new tab.
import { lazy, Suspense, type ReactNode } from "react";

const Rendered = lazy(() => import("./rendered-markdown.tsx"));
const PLAIN = /^[^*_`#[\]<>|~\n]*$/;

/** Text without markup skips the renderer, which loads on first use. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  if (PLAIN.test(text)) return <p>{text}</p>;
  return (
    <Suspense fallback={<p className="prewrap">{text}</p>}>
      <Rendered text={text} />
    </Suspense>
  );
}
