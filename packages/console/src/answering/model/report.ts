// Report: the result of a sent answer, as text.
import type { ApiProblem } from "../../api/problem.ts";
import type { AnswerResult } from "../../data/inbox/calls.ts";
import { readMember, readJsonText } from "../../json/json.ts";
import { showToast } from "../../ui/toast.tsx";
import type { Draft } from "./draft.ts";

export function reportOne({ label }: Draft, result: AnswerResult | undefined): void {
  const problem = result?.problem ?? null;
  if (problem?.code === "approvals_pending") showToast(problem.message, { tone: "green" });
  else if (problem === null) showToast(`Sent: ${label}.`, { tone: "green" });
  else showToast(`Not accepted: ${refusal(problem)}`, { tone: "amber", ms: 12_000 });
}

/** A stale interrupt is not an error: the text names the other person and the time. */
export function refusal(problem: ApiProblem): string {
  const answered = problem.members["answered"];
  const by = readJsonText(readMember(answered, "by"));
  const at = readJsonText(readMember(answered, "at"));
  if (by === null || at === null) return problem.message;
  const time = new Date(at).toLocaleTimeString();
  return readMember(answered, "same_value") === true
    ? `answered by ${by} at ${time}, with the same answer.`
    : `answered by ${by} at ${time}, with another answer.`;
}
