// Remember: an answer that is also a policy for the later questions like the one that it answers.
// Invariants:
//   - The policy fits the question that it comes from, and has its action and its scope.
//   - A decision is remembered, never an edit or a secret.
import type { Remember } from "@holdpoint/api/policies.ts";
import { answerAll, recognise } from "@holdpoint/api/dialects.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "../model/model.ts";
import { maskSecrets } from "../model/payload/mask-secrets.ts";
import { fitsQuestion } from "../model/policy/fits-policy.ts";
import { formatProposal, toVerdict } from "../model/review/verdict.ts";
import type { PolicyRule } from "../model/policy.ts";
import { requireRule } from "./write-policy.ts";

/** @param metadata of the thread @throws {ApiError} `policy_invalid` */
export function readRemembered(
  { scope, match, until }: Remember,
  answer: Json | undefined,
  { item, metadata, now }: { readonly item: Interrupt; readonly metadata: JsonObject; readonly now: number },
): PolicyRule {
  if (item.kind === "breakpoint" || answer === undefined) throw invalid("a breakpoint has no answer to remember");
  const conditions = readMatch(match);
  if (scope === "metadata" && !Object.keys(conditions).some((path) => path.startsWith("metadata.")))
    throw invalid("with the scope metadata, match names a member of the metadata");
  const given = requireRule(
    {
      when: { ...ownAction(item), ...conditions, ...ownScope(scope, item) },
      answer: decisionIn(item, answer),
      until: until ?? null,
    },
    now,
  );
  if (!fitsQuestion(given, { interrupt: item, metadata, config: {} }))
    throw invalid("match does not fit the question that is answered");
  return given;
}

/** `{action, when}`, or the conditions themselves. */
function readMatch(match: JsonObject): JsonObject {
  if (!Object.hasOwn(match, "when")) return match;
  const { when, ...others } = match;
  if (!isJsonObject(when) || Object.keys(others).some((name) => name !== "action" || Object.hasOwn(when, name)))
    throw invalid("match takes `action` and `when`, and nothing else");
  return { ...when, ...others };
}

function ownAction({ value, responseSchema }: Interrupt): JsonObject {
  const names = recognise(value, responseSchema).actions.map(({ name }) => name);
  return names.length === 0 || names.includes(null) ? {} : { action: { in: [...new Set(names)] } };
}

function ownScope(scope: Remember["scope"], { threadId, assistantId }: Interrupt): JsonObject {
  if (scope === "thread") return { thread: { eq: threadId } };
  return scope === "assistant" ? { assistant: { eq: assistantId } } : {};
}

/** @throws {ApiError} `policy_invalid` */
function decisionIn(item: Interrupt, answer: Json): Json {
  const asked = recognise(item.value, item.responseSchema);
  for (const type of ["approve", "reject"] as const) {
    const built = answerAll(asked, { type });
    if (built.ok && formatProposal(item, built.value) === formatProposal(item, answer)) return type;
  }
  if (asked.actions.length > 0 && toVerdict(item, answer) === "approve")
    throw invalid("only an approval as it was asked, or a rejection, can be remembered: no edit");
  if (maskSecrets(answer, item.responseSchema) !== answer) throw invalid("a secret is not remembered");
  return { value: answer };
}

function invalid(reason: string): ApiError {
  return new ApiError("policy_invalid", `The answer cannot be remembered: ${reason}.`);
}
