// Continuation: a run that continues a thread. It has the config, context, tags and limits of the run that asked, whatever
// channel starts it; the call adds its own to them.
import { GRANTED } from "../../auth/authorize.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import { type Interrupt, type Run, type Thread, VALUES_ONLY } from "../../model/model.ts";
import type { RunTx } from "../../ports/ports.ts";
import type { RunCall } from "./run-request.ts";
import { continuesThread } from "./start-snapshot.ts";

/** Call that continues a paused run with its own parameters. */
export function continuation(asker: Run | null, assistantId: string): RunCall {
  const request = asker?.request ?? null;
  return {
    assistantId,
    input: undefined,
    command: null,
    config: {}, // acceptance adds those of the paused run
    context: null,
    metadata: {},
    interruptBefore: request?.interruptBefore ?? null,
    interruptAfter: request?.interruptAfter ?? null,
    multitaskStrategy: "reject",
    onPaused: null,
    ifNotExists: "reject",
    durability: request?.durability ?? "async",
    stream: request?.stream ?? VALUES_ONLY, // its readers follow the thread: text keeps streaming
    webhook: request?.webhook ?? null,
    notify: request?.notify ?? null,
    afterSeconds: 0,
    checkpointId: null,
    subgraph: null,
    idempotencyKey: null,
    requestHash: "",
    // The run that asked could disable; who answers for a person has asked before, and deadlines and policies need not.
    rights: { disable: GRANTED, answer: GRANTED },
    reach: { threads: null, assistants: null },
  };
}

/** A run to accept, and the interrupts of its thread. */
export interface Continuation {
  readonly thread: Thread;
  readonly intent: Intent;
  /** Those that the run answers. */
  readonly answered: readonly Interrupt[];
  readonly open: readonly Interrupt[];
  readonly breakpoint: Interrupt | null;
}

/** The run that this one continues: the one that asked. @returns null for new input, and for a thread without a run */
export async function findAsker(
  tx: Pick<RunTx, "run" | "runs">,
  { thread, intent, answered, open, breakpoint }: Continuation,
): Promise<Run | null> {
  if (!continuesThread(intent)) return null;
  const asked = answered[0] ?? open[0] ?? breakpoint;
  const { threadId } = thread;
  const asker = asked === null || asked.runId === "" ? null : await tx.run(threadId, asked.runId);
  return asker !== null || thread.graphId === null ? asker : findNewestStarted(tx, threadId);
}

const PAGE = 100;

/** A run that waits in the queue, or left it unstarted, has no part in the state that the next one continues. */
export async function findNewestStarted(tx: Pick<RunTx, "run" | "runs">, threadId: string): Promise<Run | null> {
  for (let offset = 0; ; offset += PAGE) {
    const heads = await tx.runs(threadId, { limit: PAGE, offset, status: null });
    const started = heads.find(({ attempt }) => attempt > 0);
    if (started !== undefined) return tx.run(threadId, started.runId);
    if (heads.length < PAGE) return null;
  }
}
