// Review rules: the reviewers of an interrupt and the number of approvals, as its sources define them. Pure.
// Invariants:
//   review-rules.1. Sources only restrict each other: a caller must be in the assignees of each, the highest counts
//     apply, and one source with four eyes is enough. A payload cannot loosen the rules of code or of an assistant.
//   review-rules.2. Malformed rules refuse every answer: a typo must not open an interrupt that its author meant to close.
//   review-rules.3. An escalation extends the assignees of its own source only.
import * as z from "zod";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Escalation, Interrupt, Review } from "../model.ts";

/** Member of a response schema with the rules. Only the graph's code writes the schema. */
const SCHEMA_KEY = "x-holdpoint-review";

/** Member of a payload with the rules. */
const PAYLOAD_KEY = "review_rules";

/** Member of an assistant's metadata with the rules of its interrupts. */
const ASSISTANT_KEY = "interrupt_review";

const PEOPLE_MAX = 50;
const COUNT_MAX = 20;
const STEPS_MAX = 10;
const SECONDS_MAX = 10 * 366 * 24 * 3600;

const people = z.array(z.string().min(1).max(200)).min(1).max(PEOPLE_MAX);
const count = z.int().min(1).max(COUNT_MAX);

const RULES = z.strictObject({
  assignees: people.optional(),
  approvals: count.optional(),
  rejections: count.optional(),
  four_eyes: z.boolean().optional(),
  exclude: people.optional(),
  escalate: z
    .array(z.strictObject({ after_seconds: z.number().positive().max(SECONDS_MAX), assignees: people }))
    .max(STEPS_MAX)
    .optional(),
});
type Rules = z.infer<typeof RULES>;

/** The interrupt as raised, and its circumstances. */
export interface Asked {
  readonly value: Json;
  readonly responseSchema: JsonObject | null;
  /** Metadata of the assistant. */
  readonly assistant: JsonObject;
  /** Names of the callers who made the state of the thread. */
  readonly startedBy: readonly string[];
  readonly at: number;
}

/** @returns null without any rules */
export function buildReview({ value, responseSchema, assistant, startedBy, at }: Asked): Review | null {
  const payloads = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const given = [
    responseSchema?.[SCHEMA_KEY],
    assistant[ASSISTANT_KEY],
    ...payloads.map((payload) => (isJsonObject(payload) ? payload[PAYLOAD_KEY] : undefined)),
  ].filter((rules) => rules !== undefined);
  if (given.length === 0) return null;
  const read = given.map((rules) => RULES.safeParse(rules));
  const fault = read.find(({ success }) => !success)?.error ?? null;
  return combined(
    read.flatMap(({ data }) => data ?? []),
    { startedBy, at, fault: fault === null ? null : faultText(fault) },
  );
}

/** A breakpoint, which has no payload, under the rules of an assistant. */
export function applyRules(
  assistant: JsonObject,
  breakpoint: Interrupt,
  made: Pick<Asked, "startedBy" | "at">,
): Interrupt {
  const review = buildReview({ value: null, responseSchema: null, assistant, ...made });
  return { ...breakpoint, review, escalatesAt: review?.escalations[0]?.at ?? null };
}

/** @returns the reason why the metadata of an assistant cannot be stored; null without a fault */
export function assistantRulesFault(metadata: JsonObject): string | null {
  const given = metadata[ASSISTANT_KEY];
  const fault = given === undefined ? null : findRulesFault(given);
  return fault === null ? null : `${ASSISTANT_KEY}: ${fault}`;
}

/** @returns why the rules are malformed; null if they are not */
export function findRulesFault(rules: Json): string | null {
  const { error } = RULES.safeParse(rules);
  return error === undefined ? null : faultText(error);
}

/** The members of an assistant's metadata that say who decides: review rules, answers at a deadline, and what input does. */
export function decisionRules(metadata: JsonObject): JsonObject {
  const names = [ASSISTANT_KEY, "interrupt_deadline", "on_paused"];
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => names.includes(name)));
}

/** True if the assistant's metadata define review rules for its interrupts. */
export function hasReviewRules(metadata: JsonObject): boolean {
  return metadata[ASSISTANT_KEY] !== undefined;
}

function combined(
  sources: readonly Rules[],
  {
    startedBy,
    at,
    fault,
  }: { readonly startedBy: readonly string[]; readonly at: number; readonly fault: string | null },
): Review {
  const assignees: (readonly string[])[] = [];
  const escalations: Escalation[] = [];
  for (const { assignees: own, escalate = [] } of sources) {
    const list = own === undefined ? null : assignees.push(own) - 1; // review-rules.3
    for (const { after_seconds: seconds, assignees: more } of escalate)
      escalations.push({ at: at + Math.ceil(seconds * 1000), assignees: more, list });
  }
  const fourEyes = sources.some(({ four_eyes: eyes }) => eyes === true);
  const named = sources.flatMap(({ exclude = [] }) => exclude);
  return {
    assignees, // review-rules.1
    approvals: Math.max(1, ...sources.map(({ approvals = 1 }) => approvals)),
    rejections: Math.max(1, ...sources.map(({ rejections = 1 }) => rejections)),
    fourEyes,
    excluded: [...new Set([...named, ...(fourEyes ? startedBy : [])])],
    escalations: escalations.toSorted((one, other) => one.at - other.at),
    votes: [],
    fault, // review-rules.2
  };
}

function faultText({ issues }: z.ZodError): string {
  const [first] = issues;
  return first === undefined ? "malformed" : `${first.path.join(".") || "the rules"}: ${first.message}`;
}
