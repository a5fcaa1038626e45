// Modal: the form of Slack for a decision that needs words: a reason, an answer, changed arguments. Pure.
// Invariant modal.1: every text keeps to Slack's limits for views.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { cut, mrkdwn } from "@holdpoint/server/webhooks/slack-message.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import { type Choice, buildItemView } from "../items/item-view.ts";
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
  const { title: question, editable, plainText } = buildItemView(item);
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
        label: plain(choice === "respond" && !plainText ? "Answer, as JSON" : label),
        element: {
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
