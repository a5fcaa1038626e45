// Rendered markdown: in its own chunk; pages use text/markdown.tsx.
import type { ReactNode } from "react";
import ReactMarkdown, { defaultUrlTransform, type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { isPicture } from "./picture.ts";
import { showLeftOut } from "./shown-markdown.ts";

/** Tables, strikethrough, task lists, bare links; and nothing left out. */
const PLUGINS = [remarkGfm, showLeftOut];

const COMPONENTS: Components = {
  // The page's policy would block another site's: the text shows the URL instead.
  img: ({ alt, src }) =>
    typeof src === "string" && isPicture(src) ? (
      <img className="message-image" src={src} alt={alt ?? "picture"} />
    ) : (
      <code>{`[${alt ?? "image"}] ${typeof src === "string" ? src : ""}`}</code>
    ),
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
};

function readAddress(url: string): string {
  return isPicture(url) ? url : defaultUrlTransform(url);
}

export default function RenderedMarkdown({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="markdown">
      <ReactMarkdown components={COMPONENTS} remarkPlugins={PLUGINS} urlTransform={readAddress}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
