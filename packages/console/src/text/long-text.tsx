// Long text: a text with its line breaks, its first lines until it is opened, as Markdown, as it is, or as HTML source.
// Invariants:
//   - What is left out is counted, and one press shows it.
//   - The view changes how a text looks, never which text it is: a source is one press away.
import { useState, type ReactNode } from "react";
import { formatPlainLines } from "@holdpoint/api/text/plain-text.ts";
import { Key } from "../ui/controls.tsx";
import { useFold } from "./folds.tsx";
import { hasMarks, Markdown } from "./markdown.tsx";
import { Visible } from "./visible.tsx";

const LINES_SHOWN = 40;
/** A line of a page has about so many. */
const LINE_UNITS = 100;

const MARKDOWN = /(^|\n)\s{0,3}(#{1,6}\s|[-*+]\s|\d+\.\s|>\s|```|\|.*\|)|\*\*\S|\[[^\]\n]+\]\([^)\s]+\)|`[^`\n]+`/;
const HTML = /<(?:!doctype|html|body|head|div|p|a|b|table|ul|ol|h[1-6]|span|br|img)(?:\s[^<>]*)?\/?>/i;

/** A picture is to be seen, not read. */
const PICTURE = /!\[[^\]\n]*\]\(data:image\//;

const VIEWS = { markdown: "Show as Markdown", source: "Show the HTML source", plain: "Show as plain text" } as const;
type View = keyof typeof VIEWS;

/** @param rendered starts with the rendered form of Markdown */
export function LongText({
  text,
  rendered = false,
}: {
  readonly text: string;
  readonly rendered?: boolean;
}): ReactNode {
  const views = listViews(text);
  const [view, setView] = useState<View>(
    views.includes("source") ? "source" : (rendered && hasMarks(text)) || PICTURE.test(text) ? "markdown" : "plain",
  );
  const end = findEnd(text);
  const { isFolded, open, place } = useFold<HTMLDivElement>(end !== null);
  const shown = isFolded ? text.slice(0, end ?? text.length).toWellFormed() : text;
  return (
    <div className="long-text" ref={place} tabIndex={-1}>
      <Viewed text={shown} view={view} isSource={views.includes("source")} />
      {views
        .filter((one) => one !== view)
        .map((one) => (
          <button key={one} type="button" className="text-button small view-button" onClick={() => setView(one)}>
            {VIEWS[one]}
          </button>
        ))}
      {isFolded ? (
        <button type="button" className="fold-button" onClick={open}>
          Show all: {text.length - shown.length} more characters
          <Key keys="o" />
        </button>
      ) : null}
    </div>
  );
}

/** HTML is never drawn: its source, or its words. */
function listViews(text: string): readonly View[] {
  const start = text.slice(0, 20_000);
  if (HTML.test(start)) return ["source", "plain"];
  return MARKDOWN.test(start) ? ["markdown", "plain"] : ["plain"];
}

function Viewed({
  text,
  view,
  isSource,
}: {
  readonly text: string;
  readonly view: View;
  readonly isSource: boolean;
}): ReactNode {
  if (view === "markdown") return <Markdown text={text} />;
  const words = view === "plain" && isSource ? formatPlainLines(text).join("\n") : text;
  return (
    <div className={view === "source" ? "prewrap mono" : "prewrap"} dir="auto">
      <Visible text={words} />
    </div>
  );
}

/** Where the shown lines end; null if the text is short. A long line counts as several. */
function findEnd(text: string): number | null {
  let lines = 0;
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline + 1;
    const rows = Math.max(1, Math.ceil((end - at) / LINE_UNITS));
    if (lines + rows > LINES_SHOWN)
      return lines === 0 || rows > LINES_SHOWN ? at + (LINES_SHOWN - lines) * LINE_UNITS : at;
    lines += rows;
    at = end;
  }
  return null;
}
