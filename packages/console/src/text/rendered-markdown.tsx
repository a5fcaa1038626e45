// Rendered markdown: in its own chunk; pages use text/markdown.tsx.
import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

/** Tables, strikethrough, task lists, bare links. */
const PLUGINS = [remarkGfm];

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
      <ReactMarkdown components={COMPONENTS} remarkPlugins={PLUGINS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
