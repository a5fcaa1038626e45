// Webhook event: what is told about the end of a run to the address that its call named.
// Invariants:
//   run-ended-event.1. The event is stored in the transaction that ends the run: no end without it, and it without no end.
//   run-ended-event.2. It holds the end as it was: what becomes of the thread later does not change it.
import { isoTime } from "../../base/clock.ts";
import type { Interrupt, PauseKind, Run } from "../model/model.ts";
import type { Awaitable, Graphs, Tx } from "../ports/ports.ts";
import { interruptToWire, runToWire, withoutStack } from "../serializers/api-objects.ts";

/** A run that has ended, as far as others are told of it. */
export interface EndedRun {
  readonly run: Run;
  /** Null when it never began. */
  readonly startedAt: number | null;
  readonly pause: PauseKind | null;
  readonly interrupts: readonly Interrupt[];
}

/** Called in the transaction that ends a run, before anything of it is removed. */
export type Announce = (tx: Tx, ended: EndedRun) => Awaitable<void>;

/** A longer state is left out, and the event says so: it can be had from the thread. */
const VALUES_UNITS_MAX = 4 * 1024 * 1024;

/** @param valuesText the state at the end as JSON text; asked for only when somebody is to be told */
export function announcer(graphs: Pick<Graphs, "toWire">, valuesText: () => string | null): Announce {
  return (tx, ended) => {
    const { run } = ended;
    const { webhook: url } = run.request;
    if (url === undefined) return undefined;
    return tx.putWebhook({
      runId: run.runId,
      url,
      host: url.startsWith("/") ? "" : new URL(url).host, // "": a route of the custom app
      body: eventText(ended, run.input === null ? null : graphs.toWire(run.input), valuesText()),
      attempts: 0,
      dueAt: run.updatedAt,
      createdAt: run.updatedAt,
    }); // run-ended-event.1
  };
}

/** The first member of an event that is to say when it was sent, for webhooks.ts to fill in at each try. */
export const STAMPED = '{"webhook_sent_at":"",';

function eventText(ended: EndedRun, input: Parameters<typeof runToWire>[1], valuesText: string | null): string {
  const { run, startedAt, pause, interrupts } = ended;
  const fits = valuesText !== null && valuesText.length <= VALUES_UNITS_MAX;
  const head = JSON.stringify({
    ...runToWire({ ...run, error: run.error && withoutStack(run.error) }, input),
    run_started_at: startedAt === null ? null : isoTime(startedAt),
    run_ended_at: isoTime(run.updatedAt),
    pause,
    interrupts: interrupts.map((interrupt) => interruptToWire(interrupt, true)),
    ...(valuesText === null || fits ? {} : { values_left_out: true }),
  });
  return `${STAMPED}${head.slice(1, -1)},"values":${fits ? valuesText : "null"}}`;
}
