// Dry run: what a policy would have answered among the last decisions of people.
import { isoTime } from "@holdpoint/base/clock.ts";
import type { AgentContext } from "../context/context.ts";
import { inScope } from "../auth/scope.ts";
import type { Interrupt, Policy, Scope } from "../model/model.ts";
import { buildPolicyAnswer } from "../model/policy/fits-policy.ts";
import { needsVotes } from "../model/review/votes.ts";
import { formatProposal, toVerdict } from "../model/review/verdict.ts";
import type { AuditPlace, CredentialTx, Tx } from "../ports/ports.ts";
import { schemaRefusal } from "../interrupts/answer-schema.ts";
import { summarise } from "../wire/interrupt-summary.ts";
import { choosePolicy } from "./choose-policy.ts";

const DECISIONS_MAX = 1000;
const PAGE = 100;
const SCAN_MAX = 5000;
const OTHERS_MAX = 20;
const BY_NOBODY: ReadonlySet<string> = new Set(["policy", "deadline", "server"]);

export interface DryRun {
  readonly decisions: number;
  readonly answered: number;
  readonly approved: number;
  readonly same: number;
  readonly others: readonly object[];
}

/** @param scope threads that the caller reads */
export async function dryRunPolicy(agent: AgentContext, policy: Policy, scope: Scope): Promise<DryRun> {
  const counts = { decisions: 0, answered: 0, approved: 0, same: 0 };
  const others: object[] = [];
  for await (const place of decisions(agent, scope)) {
    if (counts.decisions++ >= DECISIONS_MAX) break;
    const found = await agent.storage.read((tx) => judge(agent, tx, policy, place));
    if (found === null) continue;
    const { interrupt, same, approved } = found;
    counts.answered++;
    if (approved) counts.approved++;
    if (same) counts.same++;
    else if (others.length < OTHERS_MAX) others.push(otherObject(interrupt));
  }
  return { ...counts, decisions: Math.min(counts.decisions, DECISIONS_MAX), others };
}

type Place = Pick<Interrupt, "threadId" | "interruptId">;

/** Newest first. */
async function* decisions({ storage }: AgentContext, scope: Scope): AsyncGenerator<Place> {
  let after: AuditPlace | null = null;
  do {
    const anything = {
      threadId: null,
      graphId: null,
      assistantId: null,
      by: null,
      via: null,
      since: null,
      until: null,
    };
    const query = { ...anything, scope, actions: ["answered"], search: [], after, limit: PAGE, scanMax: SCAN_MAX };
    const { rows, next } = await storage.longReads.searchAudit(query);
    for (const { entry } of rows) {
      const { threadId, interruptId, via = "api" } = entry;
      if (interruptId !== null && !BY_NOBODY.has(via)) yield { threadId, interruptId };
    }
    after = next;
  } while (after !== null);
}

/** @returns null if the policy would not have answered */
async function judge(
  agent: AgentContext,
  tx: CredentialTx & Pick<Tx, "thread" | "interrupt" | "run">,
  policy: Policy,
  { threadId, interruptId }: Place,
): Promise<{ readonly interrupt: Interrupt; readonly approved: boolean; readonly same: boolean } | null> {
  const thread = await tx.thread(threadId);
  const interrupt = await tx.interrupt(threadId, interruptId);
  if (thread === null || interrupt?.answer === null || interrupt === null) return null;
  if (!inScope(thread.metadata, policy.reach) || needsVotes(interrupt.review)) return null;
  const config = (await tx.run(threadId, interrupt.runId))?.request.config ?? {};
  const writer = { access: null, configPolicies: agent.configPolicies }; // whoever may try a policy may also not write it
  const choice = await choosePolicy(writer, tx, { interrupt, metadata: thread.metadata, config }, [policy]);
  const built = choice === null ? null : buildPolicyAnswer(policy, interrupt);
  if (built === null || schemaRefusal(interrupt, built.value) !== null) return null;
  const given = interrupt.answer.value;
  return {
    interrupt,
    approved: toVerdict(interrupt, given) === "approve",
    same: formatProposal(interrupt, given) === formatProposal(interrupt, built.value),
  };
}

function otherObject({ threadId, interruptId, value, responseSchema, answer }: Interrupt): object {
  const { title } = summarise(value, responseSchema);
  const times = { by: answer?.by ?? "", at: isoTime(answer?.at ?? 0) };
  return { thread_id: threadId, interrupt_id: interruptId, title, ...times };
}
