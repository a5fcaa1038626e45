// The result of a run: its status, its questions and the state at its end.
import type { AgentContext } from "../context/context.ts";
import type { Fingerprint, Interrupt, Run } from "../model/model.ts";
import type { FingerprintTx, InterruptTx, RunEnd, StateTx, StateValues } from "../ports/ports.ts";

/** The end of a run as read in a transaction. Its text is made after that (withText). */
export interface StoredEnd extends Omit<RunEnd, "valuesText"> {
  readonly values: (() => string) | null;
}

/** The end of a run as a snapshot, even if its thread has continued since. */
export async function storedEnd(agent: AgentContext, tx: InterruptTx & StateTx, run: Run): Promise<StoredEnd> {
  const [asked, values] = await Promise.all([
    run.pausedOn.length === 0 ? [] : tx.interrupts(run.threadId, null),
    storedValues(agent, tx, run),
  ]);
  const known = new Map(asked.map((interrupt) => [interrupt.interruptId, interrupt]));
  const interrupts = run.pausedOn
    .map((id) => known.get(id))
    .filter((interrupt): interrupt is Interrupt => interrupt !== undefined);
  return {
    run,
    interrupts,
    pause: run.endedBy !== "pause" ? null : interrupts.length > 0 ? "question" : "breakpoint",
    values,
  };
}

export function withText({ values, ...end }: StoredEnd): RunEnd {
  return { ...end, valuesText: values === null ? null : values() };
}

async function storedValues(agent: AgentContext, tx: StateTx, run: Run): Promise<StoredEnd["values"]> {
  const { overlay } = run;
  if (overlay !== null) return () => JSON.stringify(agent.graphs.toClientJson(overlay));
  if (run.checkpointId === null) return null;
  return (await valuesAt(agent, tx, run.threadId, run.checkpointId))?.text ?? null;
}

/** State of a checkpoint; null if the checkpoint no longer exists. */
export async function valuesAt(
  agent: AgentContext,
  tx: StateTx,
  threadId: string,
  checkpointId: string,
): Promise<StateValues | null> {
  const stored = await tx.checkpoint(threadId, "", checkpointId);
  const fingerprint = stored === null ? null : await findFingerprint(agent, tx, stored.checkpoint.fingerprint);
  if (stored === null || fingerprint === null) return null;
  return agent.graphs.readValues(tx, stored, fingerprint);
}

/** Usually the fingerprint of a deployed graph. */
export async function findFingerprint(
  agent: AgentContext,
  tx: FingerprintTx,
  hash: string,
): Promise<Fingerprint | null> {
  const deployed = agent.graphs.list().find(({ fingerprint }) => fingerprint.hash === hash);
  return deployed?.fingerprint ?? tx.fingerprint(hash);
}
