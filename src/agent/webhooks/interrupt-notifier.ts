// Notify: tells somebody that a person is waited for, through the outbox of webhooks.
// Invariants:
//   interrupt-notifier.1. The notification is stored in the transaction that stores the question: neither is there without the other.
//   interrupt-notifier.2. Each question is told once, under an id of its own, however often its thread pauses on it.
//   interrupt-notifier.3. The run's word on where to tell wins over the assistant's, and that over the server's.
import { hash } from "node:crypto";
import { isoTime } from "../../base/clock.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json/json.ts";
import { itemSummary } from "../serializers/inbox-item.ts";
import type { Interrupt, Notify, Run } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { slackMessage } from "./slack-message.ts";
import { STAMPED } from "./run-ended-event.ts";

/** What waits after a run, and the metadata of the run's assistant. */
export interface Asked {
  readonly run: Run;
  readonly waiting: readonly Interrupt[];
  readonly assistantMetadata: JsonObject;
}

export interface Notifier {
  /** Told of what is new of what waits after a run; in the transaction that ends it. */
  ask(tx: Tx, asked: Asked): Promise<void>;
  /** True once after something was stored: there is something to send. */
  takeStored(): boolean;
}

/** Member of an assistant's metadata with where its questions are told: `{url, format}`, or false for nowhere. */
const ASSISTANT_KEY = "interrupt_notify";

/** A longer value is left out, and the event says so: it can be had from the inbox. */
const VALUE_UNITS_MAX = 1024 * 1024;

/**
 * @param server where questions are told of which nothing else is said; null for nowhere
 * @param publicUrl the server's address, as those who are told can reach it
 */
export function createNotifier(server: Notify | null, publicUrl: () => string): Notifier {
  let stored = false;
  return {
    async ask(tx, { run, waiting, assistantMetadata }) {
      const at = run.updatedAt;
      const asked = waiting.filter(({ createdAt }) => createdAt === at); // interrupt-notifier.2: what waited before was told before
      if (asked.length === 0) return;
      const notify = run.request.notify ?? assistantNotify(assistantMetadata) ?? server; // interrupt-notifier.3
      if (notify === null || notify === false) return;
      for (const item of asked) {
        const link = `${publicUrl()}/console/inbox/${item.threadId}/${item.interruptId}`;
        await tx.putWebhook({
          runId: idOf(item), // interrupt-notifier.2
          url: notify.url,
          host: new URL(notify.url).host,
          body: notify.format === "slack" ? JSON.stringify(slackMessage(item, link)) : eventText(item, link),
          attempts: 0,
          dueAt: at,
          createdAt: at,
        }); // interrupt-notifier.1
        stored = true;
      }
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

/** What is not of the form is nothing: metadata are the assistant's own business. */
function readNotify(given: Json): Notify | false | null {
  if (given === false) return false;
  if (!isJsonObject(given)) return null;
  const { url, format = "event" } = given;
  if (typeof url !== "string" || !URL.canParse(url) || (format !== "event" && format !== "slack")) return null;
  return { url, format };
}

/** Like the ids of runs, whose outbox it shares. */
function idOf({ threadId, interruptId, runId }: Interrupt): string {
  const hex = hash("sha256", `${threadId} ${interruptId} ${runId}`);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

function eventText(item: Interrupt, link: string): string {
  const fits = JSON.stringify(item.value).length <= VALUE_UNITS_MAX;
  const event: JsonObject = {
    type: "interrupt.asked",
    ...itemSummary(item),
    url: link,
    asked_at: isoTime(item.createdAt),
    ...(fits ? { value: item.value } : { value: null, value_left_out: true }),
    ...(item.responseSchema === null ? {} : { response_schema: item.responseSchema }),
  };
  return `${STAMPED}${JSON.stringify(event).slice(1)}`;
}
