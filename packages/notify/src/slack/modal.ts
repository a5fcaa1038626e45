// Modal: the form of Slack for a decision that needs words: a reason, an answer, changed arguments. Pure.
// Invariants:
//   - Every text keeps to Slack's limits for views.
//   - An answer that is one of some values is a select, as far as they fit into one. Its options have the values as
//     JSON.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { cut, mrkdwn } from "@holdpoint/server/webhooks/slack-message.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import { type AnswerOption, type Choice, buildItemView } from "../items/item-view.ts";
import { editText, INPUT_UNITS_MAX } from "./messages.ts";

/** The item, the decision and the message that a modal belongs to: `private_metadata` of the view. */
export interface ModalState {
  readonly thread_id: string;
  readonly interrupt_id: string;
  readonly choice: Choice;
  readonly channel: string;
}

export const CALLBACK = "decide";
/** Block and action of the input. */
export const INPUT = "text";

const FORMS = {
  reject: { title: "Reject", submit: "Reject", label: "Reason", optional: true },
  edit: { title: "Edit and approve", submit: "Approve", label: "Arguments, as JSON", optional: false },
  respond: { title: "Answer", submit: "Send", label: "Answer", optional: false },
} as const;

export type FormChoice = keyof typeof FORMS;

export function needsForm(choice: Choice): choice is FormChoice {
  return choice in FORMS;
}

export function decisionModal(item: Interrupt, choice: FormChoice, channel: string): JsonObject {
  const { title, submit, label, optional } = FORMS[choice];
  const { title: question, editable, plainText, options } = buildItemView(item);
  const select = choice === "respond" ? buildSelect(options) : null;
  const state: ModalState = { thread_id: item.threadId, interrupt_id: item.interruptId, choice, channel };
  const initial = choice === "edit" && editable !== undefined ? editText(editable) : "";
  const plain = (text: string): JsonObject => ({ type: "plain_text", text });
  return {
    type: "modal",
    callback_id: CALLBACK,
    private_metadata: JSON.stringify(state),
    title: plain(title),
    submit: plain(submit),
    close: plain("Cancel"),
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: mrkdwn(cut(question, 1000), INPUT_UNITS_MAX) } },
      {
        type: "input",
        block_id: INPUT,
        optional,
        label: plain(choice === "respond" && !plainText && select === null ? "Answer, as JSON" : label),
        element: select ?? {
          type: "plain_text_input",
          action_id: INPUT,
          multiline: true,
          max_length: INPUT_UNITS_MAX,
          ...(initial === "" ? {} : { initial_value: initial }),
        },
      },
    ],
  };
}

/** Slack's limits for a select. */
const OPTIONS_MAX = 100;
const OPTION_LABEL_UNITS_MAX = 75;
const OPTION_VALUE_UNITS_MAX = 150;

/** @returns null if the values do not fit */
function buildSelect(options: readonly AnswerOption[]): JsonObject | null {
  const listed = options.map(({ label, value }): JsonObject => ({
    text: { type: "plain_text", text: cut(visible(label), OPTION_LABEL_UNITS_MAX), emoji: false },
    value: JSON.stringify(value),
  }));
  const fits = listed.every(({ value }) => typeof value === "string" && value.length <= OPTION_VALUE_UNITS_MAX);
  if (!fits || listed.length === 0 || listed.length > OPTIONS_MAX) return null;
  return { type: "static_select", action_id: INPUT, options: listed };
}
