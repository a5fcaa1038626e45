// Run-ended event: the webhook body for the end of a run.
// Invariants:
//   - The transaction that ends the run stores the event: neither exists without the other.
//   - The event is a snapshot of the end: later changes of the thread do not affect it.
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Interrupt, PauseKind, Run, RunWebhook } from "../model/model.ts";
import type { AnnounceTx, Awaitable, Graphs } from "../ports/ports.ts";
import { serializeInterrupt, serializeRun, withoutStack } from "../wire/api-objects.ts";
import { a2aEvent } from "./a2a-event.ts";
import { outboxId } from "./outbox-id.ts";
import { putRequestEvents } from "./request-event.ts";
import { buildWebhookRow, STAMPED } from "./webhook-row.ts";

/** Ended run as the event describes it. */
export interface EndedRun {
  readonly run: Run;
  /** Null if it never started. */
  readonly startedAt: number | null;
  readonly pause: PauseKind | null;
  readonly interrupts: readonly Interrupt[];
  /** Open items of the thread after the end. */
  readonly open: readonly Interrupt[];
  /** Added to the run, or to the first of the runs that it continues. */
  readonly webhooks: readonly RunWebhook[];
}

/** Called in the transaction that ends a run, before any of its rows is deleted. */
export type Announce = (tx: AnnounceTx, ended: EndedRun) => Awaitable<void>;

/** The event omits a longer state and flags it; the thread has it. */
const VALUES_UNITS_MAX = 4 * 1024 * 1024;

/** @param valuesText final state as JSON text; called only if the run has a webhook */
export function announcer(graphs: Pick<Graphs, "toClientJson">, valuesText: () => string | null): Announce {
  return async (tx, ended) => {
    const { run, open, webhooks } = ended;
    const { webhook: url } = run.request;
    const text = (): string =>
      eventText(ended, run.input === null ? null : graphs.toClientJson(run.input), valuesText());
    if (url !== undefined) await tx.putWebhook(buildWebhookRow(run, { id: run.runId, url, headers: {}, body: text() }));
    await putRequestEvents(tx, run, webhooks, run.updatedAt);
    for (const { webhookId, format, ...target } of webhooks) {
      if (format === "request") continue;
      const body = format === "event" ? text() : a2aEvent(run, open, format);
      await tx.putWebhook(buildWebhookRow(run, { ...target, id: outboxId(`${run.runId} ${webhookId}`), body }));
    }
  };
}

function eventText(ended: EndedRun, input: Parameters<typeof serializeRun>[1], valuesText: string | null): string {
  const { run, startedAt, pause, interrupts } = ended;
  const fits = valuesText !== null && valuesText.length <= VALUES_UNITS_MAX;
  const head = JSON.stringify({
    ...serializeRun({ ...run, error: run.error && withoutStack(run.error) }, input),
    run_started_at: startedAt === null ? null : isoTime(startedAt),
    run_ended_at: isoTime(run.updatedAt),
    pause,
    interrupts: interrupts.map((interrupt) => serializeInterrupt(interrupt, true)),
    ...(valuesText === null || fits ? {} : { values_left_out: true }),
  });
  return `${STAMPED}${head.slice(1, -1)},"values":${fits ? valuesText : "null"}}`;
}
