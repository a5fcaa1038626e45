// Markdown: text of a graph as it was meant. Untrusted: no HTML, no pictures from elsewhere, links open apart.
import { lazy, Suspense, type ReactNode } from "react";

const Rendered = lazy(() => import("./rendered-markdown.tsx"));
const PLAIN = /^[^*_`#[\]<>|~\n]*$/;

/** What has no marks needs no renderer, which is loaded with the first text that does. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  if (PLAIN.test(text)) return <p>{text}</p>;
  return (
    <Suspense fallback={<p className="prewrap">{text}</p>}>
      <Rendered text={text} />
    </Suspense>
  );
}
