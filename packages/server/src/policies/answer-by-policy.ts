// Answers of policies: in the transaction that stores new questions, as if their authors answered in the same instant.
// Invariants:
//   - Only a question that was never asked before is answered so: at most once, whatever becomes of it.
//   - The answer passes acceptance like every other. One that is refused leaves its question open, and the others of
//     the pause as they are.
//   - A policy that fits is read again under its lock.
//   - After so many answers of policies in a row, a person answers: a graph may ask for ever.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import { RefusedAnswers } from "../interrupts/problem-details.ts";
import type { Caller, Interrupt } from "../model/model.ts";
import type { AcceptTx, CredentialTx, PolicyTx, Tx } from "../ports/ports.ts";
import type { Accepted, VotesOnly } from "../runs/accept/accept-run.ts";
import { acceptRun } from "../runs/accept/accept-run.ts";
import { continuation } from "../runs/accept/continuation.ts";
import { readGiven } from "../runs/accept/run-start.ts";
import type { PolicyAnswers } from "../runs/execute/execution-ports.ts";
import type { Finished } from "../runs/execute/finish-run.ts";
import { choosePolicy, type PolicyChoice } from "./choose-policy.ts";

const IN_A_ROW_MAX = 100;

type Choices = ReadonlyMap<string, PolicyChoice>;

/** @returns null if every question stays as it is */
export async function answerByPolicy(
  agent: AgentContext,
  tx: AcceptTx,
  paused: Finished,
): Promise<PolicyAnswers | null> {
  const choices = paused.asked.length === 0 ? new Map() : await choose(agent, tx, paused);
  if (choices.size === 0 || (await isInARow(tx, paused.run.threadId))) return null;
  const accepted = await accept(agent, tx, paused, choices);
  if (accepted === null) return null;
  const voted = new Map(accepted.voted.map((one) => [one.interruptId, one]));
  const answered = accepted.run === null ? [] : accepted.closed.filter(({ state }) => state === "answered");
  const open = paused.pending
    .filter((one) => !answered.some(({ interruptId }) => interruptId === one.interruptId))
    .map((one) => voted.get(one.interruptId) ?? one);
  return {
    open,
    pending: accepted.run === null ? open : [], // the thread is busy: they come back with its next pause
    publish: () => publish(agent, paused, answered),
  };
}

async function choose(
  agent: AgentContext,
  tx: CredentialTx & PolicyTx,
  { run, asked, metadata, policies: stored }: Finished,
): Promise<Choices> {
  const now = agent.clock.now();
  let policies = [...agent.configPolicies, ...stored];
  const { config } = run.request;
  const choices = new Map<string, PolicyChoice>();
  for (const interrupt of policies.length === 0 ? [] : asked) {
    for (;;) {
      const choice = await choosePolicy(agent, tx, { interrupt, metadata, config }, policies);
      if (choice === null) break;
      const { policy } = choice;
      if (agent.configPolicies.includes(policy) || (await tx.holdPolicy(policy.policyId, now)) !== null) {
        choices.set(interrupt.interruptId, choice);
        break;
      }
      policies = policies.filter((one) => one !== policy);
    }
  }
  return choices;
}

async function isInARow(tx: Pick<Tx, "listAudit">, threadId: string): Promise<boolean> {
  const answers = (await tx.listAudit(threadId)).filter(({ action }) => action === "answered");
  const last = answers.slice(-IN_A_ROW_MAX);
  return last.length === IN_A_ROW_MAX && last.every(({ via }) => via === "policy");
}

async function accept(
  agent: AgentContext,
  tx: AcceptTx,
  { run, asked }: Finished,
  choices: Choices,
): Promise<Accepted | VotesOnly | null> {
  const { threadId, request } = run;
  // The graph sees the user of the paused run; the audit trail names the authors.
  const caller: Caller = { name: "policy", user: request.user ?? null, permissions: request.permissions ?? [] };
  const left = new Map(choices);
  while (left.size > 0) {
    const resume: JsonObject = Object.fromEntries([...left].map(([id, { value }]) => [id, value]));
    const answerers = new Map([...left].map(([id, { answerer }]) => [id, answerer]));
    const own = { command: { resume }, via: "policy", answerers } as const;
    const call = { ...continuation(run, asked[0]?.assistantId ?? run.assistantId), ...own };
    try {
      const given = await readGiven(agent, call);
      return await acceptRun(agent, tx, caller, { threadId, call, given, slotFree: false });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === "storage_unavailable") throw error;
      const refused = error instanceof RefusedAnswers ? [...error.byInterrupt.keys()] : [...left.keys()];
      for (const id of refused) left.delete(id);
      agent.log.warning("policy_refused", { thread_id: threadId, code: error.code, reason: error.message });
    }
  }
  return null;
}

function publish(agent: AgentContext, { run, metadata }: Finished, answered: readonly Interrupt[]): void {
  agent.inbox.closed(answered, metadata, "policy");
  agent.events.wakes.wake(run.threadId);
  agent.worker.wake();
  const ids = { thread_id: run.threadId, run_id: run.runId };
  if (answered.length > 0) agent.log.info("policy_answered", { ...ids, interrupts: answered.length });
}
