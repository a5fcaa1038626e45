// Rendered markdown: in a chunk of its own; ui/markdown.tsx is what pages use.
import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";

const COMPONENTS: Components = {
  // The page's policy would not load it: the text says where it is.
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
