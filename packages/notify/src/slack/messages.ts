// Messages of the Slack app: an item with buttons for its decisions, its end, and a list of items. Pure.
// Invariants:
//   - Every text keeps to Slack's limits, and the rules of slack-message.ts: escaped, nothing hidden.
//   - A button names its item, not the answer: the server builds the answer from what the item allows.
//   - One press approves nothing that is marked as dangerous: Slack asks first.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { DANGER } from "@holdpoint/api/text/payload-excerpt.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import {
  cut,
  linkButton,
  mrkdwn,
  showsWhole,
  slackMessage,
  type SlackMessage,
} from "@holdpoint/server/webhooks/slack-message.ts";
import { type Choice, formatEnd, buildItemView } from "../items/item-view.ts";

export const LABELS: Readonly<Record<Choice, string>> = {
  approve: "Approve",
  reject: "Reject…",
  edit: "Edit…",
  respond: "Answer…",
  ignore: "Ignore",
  continue: "Continue",
};
const STYLES: Partial<Readonly<Record<Choice, string>>> = { approve: "primary", continue: "primary", reject: "danger" };
/** Slack's limit for the text of an input. */
export const INPUT_UNITS_MAX = 3000;
const TITLE_UNITS_MAX = 500;

/** @param answers whether people may answer in Slack */
export function askMessage(item: Interrupt, link: string, answers: boolean): SlackMessage {
  const buttons = answers ? listChoices(item).map((choice) => buildButton(item, choice)) : [];
  return slackMessage(item, link, [
    ...buttons,
    linkButton(buttons.length > 0 ? "Open" : "Answer", link, buttons.length === 0),
  ]);
}

/**
 * Decisions that fit into Slack: an edit needs arguments that fit into an input, and nothing goes ahead whose request is
 * cut off in the message.
 */
export function listChoices(item: Interrupt): readonly Choice[] {
  const { choices, editable, goesAhead } = buildItemView(item);
  const fits = editable !== undefined && editText(editable).length <= INPUT_UNITS_MAX;
  const isWhole = item.kind === "breakpoint" || showsWhole(item);
  return choices.filter((choice) => (choice !== "edit" || fits) && (isWhole || !goesAhead.has(choice)));
}

export function editText(args: Json): string {
  return visible(JSON.stringify(args, null, 2));
}

function buildButton(item: Interrupt, choice: Choice): JsonObject {
  const style = STYLES[choice];
  const isDangerous = choice === "approve" && buildItemView(item).dangerous;
  return {
    type: "button",
    action_id: choice,
    value: `${item.threadId} ${item.interruptId}`,
    text: { type: "plain_text", text: LABELS[choice] },
    ...(isDangerous ? { style: "danger", confirm: CONFIRM } : style === undefined ? {} : { style }),
  };
}

const CONFIRM: JsonObject = {
  title: { type: "plain_text", text: "Approve?" },
  text: { type: "plain_text", text: DANGER },
  confirm: { type: "plain_text", text: "Approve" },
  deny: { type: "plain_text", text: "Cancel" },
  style: "danger",
};

/** The message after the item has ended. @param item null if it was deleted */
export function endMessage(item: Interrupt | null, link: string): SlackMessage {
  const end = mrkdwn(formatEnd(item) ?? "", TITLE_UNITS_MAX);
  const context: JsonObject = { type: "context", elements: [{ type: "mrkdwn", text: end }] };
  if (item === null) return { text: end, blocks: [context] };
  const { text, blocks } = slackMessage(item, link, [linkButton("Open", link, false)]);
  return { text: `${cut(text, 2000)} ${end}`, blocks: [...blocks, context] };
}

/** Several items as one message, each with its link. */
export function listMessage(items: readonly Interrupt[], buildLink: (item: Interrupt) => string): SlackMessage {
  const header = `${items.length} questions are waiting`;
  return {
    text: header,
    blocks: [
      { type: "header", text: { type: "plain_text", text: header, emoji: false } },
      ...items.map((item): JsonObject => {
        const { title, hint, dangerous } = buildItemView(item);
        const lines = [
          `<${buildLink(item)}|${mrkdwn(title.replaceAll(/[|\n]/g, " "), TITLE_UNITS_MAX)}>`,
          ...(hint === "" ? [] : [mrkdwn(hint, TITLE_UNITS_MAX)]),
          mrkdwn(visible(`${item.graphId} · ${item.node}`), TITLE_UNITS_MAX),
          ...(dangerous ? [`*${DANGER}*`] : []),
        ];
        return { type: "section", text: { type: "mrkdwn", text: lines.join("\n") } };
      }),
    ],
  };
}
