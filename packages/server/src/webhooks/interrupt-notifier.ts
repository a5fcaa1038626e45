// Interrupt notifier: notifies a URL of new interrupts, and the notification rules, through the outbox.
// Invariants:
//   interrupt-notifier.1. The transaction that stores the interrupt also stores the notification: neither exists
//     without the other.
//   interrupt-notifier.2. Each interrupt is sent once, under its own id, for any number of pauses on it.
//   interrupt-notifier.3. The target of the run overrides that of the assistant, which overrides that of the server. A
//     run or an assistant that wants no notification gets none from the rules either.
//   - Answer addresses go to the target of the server only: a caller who names a target could answer in the name of
//     others.
import { isoTime } from "@holdpoint/base/clock.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { itemSummary } from "../wire/inbox-item.ts";
import type { Interrupt, Notify, Run, Webhook } from "../model/model.ts";
import type { AnswerAddresses } from "../ports/answer-addresses.ts";
import type { NotifyTx, PeopleTx, WebhookTx } from "../ports/ports.ts";
import { slackMessage } from "./slack-message.ts";
import { noticeRow } from "./notice-row.ts";
import { outboxId } from "./outbox-id.ts";
import { STAMPED } from "./webhook-row.ts";

/** Interrupts pending after a run, and the metadata of its assistant. */
export interface RunEndItems {
  readonly run: Run;
  readonly pending: readonly Interrupt[];
  readonly assistantMetadata: JsonObject;
}

/** An item with more assignees, the run that asked, and the metadata of its assistant. */
export interface ItemEscalation {
  readonly run: Run | null;
  readonly assistantMetadata: JsonObject;
  /** People who joined the assignees. */
  readonly added: readonly string[];
  readonly at: number;
}

export interface Notifier {
  /** Called with the pending interrupts, in the transaction that ends the run. */
  notify(tx: NotifyTx, end: RunEndItems): Promise<void>;
  /** Called in the transaction that extends the assignees of an item. */
  escalated(tx: NotifyTx, item: Interrupt, escalation: ItemEscalation): Promise<void>;
  /** True once after a notification was stored, so that the sender wakes. */
  takeStored(): boolean;
}

/** Member of an assistant's metadata with the notification target: `{url, format}`, or false for none. */
const ASSISTANT_KEY = "interrupt_notify";

/** The event omits a longer value and flags it; the inbox has it. */
const VALUE_UNITS_MAX = 1024 * 1024;

/**
 * @param server default notification target, or null
 * @param publicUrl address of the server as reachable by recipients
 * @param hasRules the server has notification rules
 * @param addresses null where none are set up
 */
export function createNotifier(
  server: Notify | null,
  publicUrl: () => string,
  hasRules: boolean,
  addresses: AnswerAddresses | null = null,
): Notifier {
  let stored = false;
  /** interrupt-notifier.3. */
  const chooseNotify = (run: Run | null, metadata: JsonObject): Notify | false | null =>
    run?.request.notify ?? assistantNotify(metadata) ?? server;
  const linkTo = (item: Interrupt): string => `${publicUrl()}/console/inbox/${item.threadId}/${item.interruptId}`;
  const listAddresses = async (tx: PeopleTx, target: Notify, item: Interrupt): Promise<JsonObject> => {
    if (addresses === null || target !== server || target.format !== "event") return {};
    return { answer_addresses: (await addresses.forReviewers(tx, item)).map((one) => ({ ...one })) };
  };
  const put = async (tx: WebhookTx, { url }: Notify, row: Pick<Webhook, "runId" | "body" | "dueAt">): Promise<void> => {
    const { dueAt } = row;
    const sent = { headers: {}, channel: "http", batch: null, attempts: 0, createdAt: dueAt } as const;
    await tx.putWebhook({ ...row, ...sent, url, host: new URL(url).host });
    stored = true;
  };
  return {
    async notify(tx, { run, pending, assistantMetadata }) {
      const at = run.updatedAt;
      // interrupt-notifier.2: earlier interrupts were sent before
      const added = pending.filter(({ createdAt }) => createdAt === at);
      if (added.length === 0) return;
      const notify = chooseNotify(run, assistantMetadata);
      if (notify === false) return;
      if (hasRules) for (const item of added) await tx.putWebhook(noticeRow(item, "asked", at)); // interrupt-notifier.1
      stored ||= hasRules;
      if (notify === null) return;
      for (const item of added) {
        const link = linkTo(item);
        const more = await listAddresses(tx, notify, item);
        const body = notify.format === "slack" ? JSON.stringify(slackMessage(item, link)) : eventText(item, link, more);
        await put(tx, notify, { runId: buildOutboxId(item), body, dueAt: at }); // interrupt-notifier.1, interrupt-notifier.2
      }
    },
    async escalated(tx, item, { run, assistantMetadata, added, at }) {
      const notify = chooseNotify(run, assistantMetadata);
      if (notify === false) return;
      if (hasRules) await tx.putWebhook(noticeRow(item, "escalated", at));
      stored ||= hasRules;
      if (notify === null) return;
      const link = linkTo(item);
      const body =
        notify.format === "slack"
          ? JSON.stringify(slackMessage(item, link))
          : eventText(item, link, {
              type: "interrupt.escalated",
              assignees: added,
              escalated_at: isoTime(at),
              ...(await listAddresses(tx, notify, item)),
            });
      await put(tx, notify, {
        runId: outboxId(`escalated ${item.threadId} ${item.interruptId} ${at}`),
        body,
        dueAt: at,
      });
    },
    takeStored() {
      const was = stored;
      stored = false;
      return was;
    },
  };
}

function assistantNotify(metadata: JsonObject): Notify | false | null {
  const given = metadata[ASSISTANT_KEY];
  return given === undefined ? null : readNotify(given);
}

/** Other shapes are ignored: metadata belong to the assistant. */
function readNotify(given: Json): Notify | false | null {
  if (given === false) return false;
  if (!isJsonObject(given)) return null;
  const { url, format = "event" } = given;
  if (typeof url !== "string" || !URL.canParse(url) || (format !== "event" && format !== "slack")) return null;
  return { url, format };
}

function buildOutboxId({ threadId, interruptId, runId }: Interrupt): string {
  return outboxId(`${threadId} ${interruptId} ${runId}`);
}

function eventText(item: Interrupt, link: string, more: JsonObject = {}): string {
  const fits = JSON.stringify(item.value).length <= VALUE_UNITS_MAX;
  const event: JsonObject = {
    type: "interrupt.asked",
    ...itemSummary(item),
    url: link,
    asked_at: isoTime(item.createdAt),
    ...(fits ? { value: item.value } : { value: null, value_left_out: true }),
    ...(item.responseSchema === null ? {} : { response_schema: item.responseSchema }),
    ...more,
  };
  return `${STAMPED}${JSON.stringify(event).slice(1)}`;
}
