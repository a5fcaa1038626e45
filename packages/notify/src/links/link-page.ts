// Link page: the page of a one-use link: the question with its decisions, or the reason why there is none. Pure.
// Invariants:
//   - Every text is escaped, and nothing in it is hidden (api/text/visible-text: visible-text.1).
//   - The page has no scripts, and loads nothing. Other pages cannot frame it.
//   - The page decides nothing: every decision is a form that a person submits.
//   - A request that the page cuts off can be approved, and a question answered, in the console only, which shows all
//     of it.
import type { ReadToken } from "./link-token.ts";
import { DANGER } from "@holdpoint/api/text/payload-excerpt.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import { type Choice, buildItemView } from "../items/item-view.ts";

const LABELS: Readonly<Record<Choice, string>> = {
  approve: "Approve",
  reject: "Reject",
  edit: "Approve with changes",
  respond: "Send answer",
  ignore: "Ignore",
  continue: "Continue",
};
const SHOWN_UNITS_MAX = 20_000;

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:42rem;padding:0 1rem}
pre{background:#8881;padding:1rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
form{margin:1rem 0;padding:1rem;border:1px solid #8885;border-radius:.5rem}
textarea{width:100%;min-height:6rem;font:inherit;box-sizing:border-box}
button{font:inherit;padding:.5rem 1rem;margin-top:.5rem}:root{color-scheme:light dark}`;

export const LINK_PATH = "/answer";

/** @param console address of the item in the console */
export function questionPage(
  item: Interrupt,
  { person, choice }: Pick<ReadToken, "person" | "choice">,
  console: string,
  problem: string | null,
): HttpReply {
  const { title, choices: all, goesAhead, text, dangerous } = buildItemView(item);
  const choices = all.filter((one) => (choice ?? one) === one);
  const isLong = text !== null && text.length > SHOWN_UNITS_MAX;
  const shown = isLong ? `${text.slice(0, SHOWN_UNITS_MAX).toWellFormed()}…` : text;
  return page(problem === null ? 200 : 422, title, [
    `<p>${escapeHtml(visible(item.graphId))} · ${escapeHtml(visible(item.node))}</p>`,
    ...(problem === null ? [] : [`<p role="alert"><strong>${escapeHtml(visible(problem))}</strong></p>`]),
    ...(dangerous ? [`<p><strong>${DANGER}</strong></p>`] : []),
    ...(shown === null ? [] : [`<pre dir="auto">${escapeHtml(shown)}</pre>`]),
    `<p>You answer as <strong>${escapeHtml(visible(person))}</strong>. This link works once.</p>`,
    ...choices.filter((one) => !isLong || !goesAhead.has(one)).map((one) => renderForm(item, one)),
    `<p><a href="${escapeHtml(console)}">Open in the console</a></p>`,
  ]);
}

/** A page that only says something: the link was used, the question is answered. */
export function messagePage(status: number, title: string, text: string, console: string | null): HttpReply {
  const link = console === null ? [] : [`<p><a href="${escapeHtml(console)}">Open in the console</a></p>`];
  return page(status, title, [`<p>${escapeHtml(text)}</p>`, ...link]);
}

function renderForm(item: Interrupt, choice: Choice): string {
  const { editable, plainText } = buildItemView(item);
  const hidden = `<input type="hidden" name="choice" value="${choice}">`;
  return `<form method="post">${hidden}${renderField(choice, editable, plainText)}<button>${LABELS[choice]}</button></form>`;
}

function renderField(
  choice: Choice,
  editable: ReturnType<typeof buildItemView>["editable"],
  plainText: boolean,
): string {
  const field = (label: string, text = "", more = " required"): string =>
    `<label>${label}<textarea name="text"${more}>\n${escapeHtml(text)}</textarea></label>`;
  if (choice === "reject") return field("Reason (optional)", "", "");
  if (choice === "respond") return field(plainText ? "Answer" : "Answer, as JSON");
  return choice === "edit" ? field("Arguments, as JSON", visible(JSON.stringify(editable, null, 2) ?? "")) : "";
}

function page(status: number, title: string, parts: readonly string[]): HttpReply {
  const heading = escapeHtml(visible(title));
  return {
    status,
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${heading}</title><style>${STYLE}</style></head><body><h1 dir="auto">${heading}</h1>${parts.join("\n")}</body></html>`,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy":
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "Referrer-Policy": "same-origin",
      "X-Robots-Tag": "noindex",
    },
  };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
