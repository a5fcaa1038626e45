// Answer turn: answers to the questions of one pause that arrive one after the other, as pages send the results of
// parallel tools. The first one starts a run, and the next one arrives while it works.
// Invariants:
//   - An answer to questions that are open while a run works waits for the end of that run, at most WAIT_MS. Then the
//     rules of answers decide as for any other (server/interrupts/resume-rules.ts).
//   - Every other refusal comes at once. At most WAITING_MAX answers wait in a process.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import { waitForRun } from "../runs/wait-for-run.ts";

const WAIT_MS = 10_000;
const WAITING_MAX = 256;

const waitingByAgent = new WeakMap<AgentContext, number>();

interface Questions {
  readonly threadId: string;
  readonly interruptIds: readonly string[];
}

/** @param answer may be called several times, until it is accepted */
export async function inTurn<T>(agent: AgentContext, questions: Questions, answer: () => Promise<T>): Promise<T> {
  const until = agent.clock.monotonic() + WAIT_MS;
  for (;;) {
    try {
      return await answer();
    } catch (error) {
      const isBusy = error instanceof ApiError && error.code === "thread_busy";
      const before = isBusy ? await findTurn(agent, questions) : "refused";
      const leftMs = until - agent.clock.monotonic();
      if (before === "refused" || leftMs <= 0) throw error;
      if (before !== "now") await waitForEnd(agent, questions.threadId, before.runId, leftMs);
    }
  }
}

/** The run to wait for; "now" if it has just ended; "refused" if a question is not open, or too many wait. */
async function findTurn(
  agent: AgentContext,
  { threadId, interruptIds }: Questions,
): Promise<{ readonly runId: string } | "now" | "refused"> {
  if ((waitingByAgent.get(agent) ?? 0) >= WAITING_MAX) return "refused";
  return agent.storage.read(async (tx) => {
    const open = new Set((await tx.interrupts(threadId, "open")).map(({ interruptId }) => interruptId));
    if (!interruptIds.every((id) => open.has(id))) return "refused";
    if ((await tx.thread(threadId))?.status !== "busy") return "now";
    const active = await tx.activeRuns(threadId);
    return active.find(({ status }) => status === "running") ?? active[0] ?? "now";
  });
}

async function waitForEnd(agent: AgentContext, threadId: string, runId: string, leftMs: number): Promise<void> {
  const { result, leave } = await waitForRun(agent, threadId, runId);
  const timeout = Promise.withResolvers<void>();
  const cancel = agent.clock.after(leftMs, timeout.resolve);
  waitingByAgent.set(agent, (waitingByAgent.get(agent) ?? 0) + 1);
  try {
    await Promise.race([result, timeout.promise]);
  } finally {
    waitingByAgent.set(agent, (waitingByAgent.get(agent) ?? 1) - 1);
    cancel();
    leave();
  }
}
