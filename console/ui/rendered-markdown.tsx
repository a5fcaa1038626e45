// Rendered markdown: in its own chunk; pages use ui/markdown.tsx.
import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";

const COMPONENTS: Components = {
  // The page's policy would block it: the text shows the URL instead.
  img: ({ alt, src }) => <code>{`[${alt ?? "image"}] ${typeof src === "string" ? src : ""}`}</code>,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
};

export default function RenderedMarkdown({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="markdown">
      <ReactMarkdown components={COMPONENTS}>{text}</ReactMarkdown>
    </div>
  );
}
