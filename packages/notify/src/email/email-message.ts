// E-mail message: items as text and HTML. Pure.
// Invariants:
//   - Texts of a graph are escaped in HTML, and nothing in them is hidden (visible-text.1).
//   - A header has one line: line breaks and controls of a title cannot add another.
import { DANGER } from "@holdpoint/api/text/payload-excerpt.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { Mail } from "@holdpoint/server/ports/ports.ts";
import { escapeHtml } from "../links/link-page.ts";
import { buildItemView } from "../items/item-view.ts";

export interface ItemLinks {
  /** The item in the console. */
  readonly console: string;
  /** One-use link; null without one. */
  readonly answer: string | null;
}

const SUBJECT_UNITS_MAX = 150;
const VALUE_UNITS_MAX = 10_000;

/** @param items one, or the items of a digest; at least one */
export function emailMessage(
  items: readonly Interrupt[],
  buildLinks: (item: Interrupt) => ItemLinks,
): Pick<Mail, "subject" | "text" | "html"> {
  const [first] = items;
  const heading =
    first !== undefined && items.length === 1 ? buildItemView(first).title : `${items.length} questions are waiting`;
  const parts = items.map((item) => formatPart(item, buildLinks(item), items.length === 1));
  return {
    subject: oneLine(heading),
    text: `${parts.map(({ text }) => text).join("\n\n")}\n`,
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif">${parts.map(({ html }) => html).join("<hr>")}</body></html>`,
  };
}

function formatPart(
  item: Interrupt,
  { console, answer }: ItemLinks,
  isWhole: boolean,
): { readonly text: string; readonly html: string } {
  const { title, hint, text, dangerous } = buildItemView(item);
  const origin = visible(`${item.graphId} · ${item.node}`);
  const value = isWhole && text !== null ? cut(text) : null;
  const beside = isWhole || hint === "" ? [] : [hint];
  const until = item.expiresAt === null ? null : `Waits until ${isoTime(item.expiresAt)}`;
  const links: readonly (readonly [label: string, url: string])[] = [
    ...(answer === null ? [] : [["Answer (this link is yours, and works once)", answer] as const]),
    ["Open in the console", console],
  ];
  return {
    text: [
      title,
      ...beside,
      origin,
      ...(dangerous ? [DANGER] : []),
      ...(until === null ? [] : [until]),
      ...(value === null ? [] : ["", value]),
      "",
      ...links.map(([label, url]) => `${label}:\n${url}`),
    ].join("\n"),
    html: [
      `<h2 dir="auto">${escapeHtml(title)}</h2>`,
      ...beside.map((line) => `<p dir="auto">${escapeHtml(line)}</p>`),
      `<p>${escapeHtml(origin)}</p>`,
      ...(dangerous ? [`<p><strong>${DANGER}</strong></p>`] : []),
      ...(until === null ? [] : [`<p>${escapeHtml(until)}</p>`]),
      ...(value === null ? [] : [`<pre dir="auto" style="white-space:pre-wrap">${escapeHtml(value)}</pre>`]),
      ...links.map(([label, url]) => `<p><a href="${escapeHtml(url)}">${escapeHtml(label)}</a></p>`),
    ].join("\n"),
  };
}

function oneLine(text: string): string {
  const line = visible(text)
    .replaceAll(/[\r\n\t]+/g, " ")
    .trim();
  return line.length <= SUBJECT_UNITS_MAX ? line : `${line.slice(0, SUBJECT_UNITS_MAX - 1).toWellFormed()}…`;
}

function cut(text: string): string {
  return text.length <= VALUE_UNITS_MAX
    ? text
    : `${text.slice(0, VALUE_UNITS_MAX).toWellFormed()}…\n(The console shows the rest.)`;
}
