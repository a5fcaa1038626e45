// Slack message: an interrupt → a message in Slack's Block Kit for an incoming webhook. Pure.
// Invariants:
//   slack-message.1. Every text keeps to Slack's limits for any length of the interrupt, because Slack rejects longer
//     ones.
//   slack-message.2. The interrupt's text cannot mention, link or format: it is truncated, then escaped.
//   slack-message.3. Nothing in a message is invisible or reordered (api/text/visible-text: visible-text.1).
import { recognise } from "@holdpoint/api/dialects.ts";
import { formatRequest } from "@holdpoint/api/text/payload-content.ts";
import { DANGER, isDangerous } from "@holdpoint/api/text/payload-excerpt.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "../model/model.ts";

const HEADER_UNITS_MAX = 150;
const SECTION_UNITS_MAX = 3000;
const FIELD_UNITS_MAX = 2000;
/** Escaping expands a character to at most five; a code block adds six. */
const LONGEST_ESCAPE = "&amp;".length;
const CODE_FENCE = "```";

export interface SlackMessage {
  /** For notifications and screen readers. */
  readonly text: string;
  readonly blocks: readonly JsonObject[];
}

/** @param elements of the row of buttons; none leaves it out */
export function slackMessage(
  item: Interrupt,
  link: string,
  elements: readonly JsonObject[] = [linkButton("Answer", link, true)],
): SlackMessage {
  const title = readTitle(item);
  const field = (name: string, value: string): JsonObject => ({
    type: "mrkdwn",
    text: `*${name}*\n${mrkdwn(visible(value), FIELD_UNITS_MAX - name.length - 3)}`,
  });
  const section = (text: string): JsonObject => ({ type: "section", text: { type: "mrkdwn", text } });
  const isAsked = item.kind !== "breakpoint";
  const blocks: JsonObject[] = [
    { type: "header", text: { type: "plain_text", text: cut(title, HEADER_UNITS_MAX), emoji: false } },
    { type: "section", fields: [field("Graph", item.graphId), field("Node", item.node)] },
    ...(isAsked && isDangerous(item.value) ? [section(`*${DANGER}*`)] : []),
    ...(isAsked ? [section(codeBlock(formatShown(item)))] : []),
  ];
  if (elements.length > 0) blocks.push({ type: "actions", elements });
  if (item.expiresAt !== null && item.state === "open") {
    const seconds = Math.floor(item.expiresAt / 1000);
    const fallback = new Date(item.expiresAt).toISOString();
    const text = `Waits until <!date^${seconds}^{date_short_pretty} {time}|${fallback}>`;
    blocks.push({ type: "context", elements: [{ type: "mrkdwn", text }] });
  }
  return { text: mrkdwn(`${title} (${item.graphId} is waiting for you)`, SECTION_UNITS_MAX), blocks };
}

export function linkButton(text: string, link: string, isPrimary: boolean): JsonObject {
  const style = isPrimary ? { style: "primary" } : {};
  return { type: "button", ...style, text: { type: "plain_text", text }, url: link };
}

function readTitle({ kind, node, value, responseSchema }: Interrupt): string {
  return kind === "breakpoint" ? `Breakpoint before ${visible(node)}` : recognise(value, responseSchema).title;
}

function formatShown({ value, responseSchema }: Pick<Interrupt, "value" | "responseSchema">): string {
  return visible(formatRequest(value, recognise(value, responseSchema)));
}

/** slack-message.1: a fifth of the limit fits after any escaping. Most texts need no truncation. */
export function mrkdwn(text: string, unitsMax: number): string {
  const whole = escape(text);
  return whole.length <= unitsMax ? whole : escape(cut(text, Math.floor(unitsMax / LONGEST_ESCAPE)));
}

const BLOCK_UNITS_MAX = SECTION_UNITS_MAX - 2 * CODE_FENCE.length;

/** The message has the whole request: what a person approves there is what they read. */
export function showsWhole(item: Pick<Interrupt, "value" | "responseSchema">): boolean {
  return escape(formatShown(item)).length <= BLOCK_UNITS_MAX;
}

function codeBlock(text: string): string {
  const unitsMax = BLOCK_UNITS_MAX;
  // slack-message.2: it cannot end the block
  return `${CODE_FENCE}${mrkdwn(text.replaceAll("`", "'"), unitsMax)}${CODE_FENCE}`;
}

/** Slack requires exactly these three. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function cut(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${text.slice(0, unitsMax - 1).toWellFormed()}…`;
}
