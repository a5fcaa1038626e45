// Asked before: whether a raised interrupt is a question that people have seen (ARCHITECTURE.md, Ids). Pure.
// Invariants:
//   asked-before.1. An id stands for one content, the payload and the schema of the answer. So an answer, an address, a
//        button, a claim, a vote or a default answer given for one content never settles another.
import { hash } from "node:crypto";
import type { AnswerFailure, Interrupt } from "../model/model.ts";
import { isSameDeadline, splitDeadline, type PayloadDeadline } from "../model/payload/payload-deadline.ts";
import { hashJson } from "../model/payload/shown-payload.ts";
import type { OpenInterrupt } from "../ports/ports.ts";
import { DEADLINE_MEMBER } from "./deadline.ts";

type Content = Pick<Interrupt, "value" | "responseSchema" | "createdAt">;

/** An interrupt as a run raised it, with the schema of its answer. */
export type Raised = Content & Pick<OpenInterrupt, "interruptId" | "graphNs" | "taskId" | "index">;

export interface AskedBefore {
  /** Id of the question in the inbox. */
  readonly interruptId: string;
  /** The open row of the same question. */
  readonly before: Interrupt | null;
  readonly failure: AnswerFailure | null;
}

/**
 * @param known interrupts of the thread
 * @param runId the run that raised it
 */
export function findAskedBefore(known: readonly Interrupt[], raised: Raised, runId: string): AskedBefore {
  const same = known.filter((one) => interruptKey(one) === interruptKey(raised));
  const open = same.find(({ state }) => state === "open") ?? null;
  const failure = same.find((one) => one.failure !== null && showsTheSame(one, raised))?.failure ?? null;
  if (open !== null && showsTheSame(open, raised)) return { interruptId: open.interruptId, before: open, failure };
  const isTaken = known.some((one) => one.interruptId === raised.interruptId && !showsTheSame(one, raised));
  const interruptId = open !== null || isTaken ? newId(raised, runId) : raised.interruptId; // asked-before.1
  return { interruptId, before: null, failure };
}

/** As JSON, in which -0 is 0. A time that the graph computes anew in each run is no other question. */
function showsTheSame(one: Content, other: Content): boolean {
  const [before, now] = [describeContent(one), describeContent(other)];
  return before.shown === now.shown && isSameDeadline(before.deadline, now.deadline);
}

function describeContent(content: Content): { readonly shown: string; readonly deadline: PayloadDeadline | null } {
  const { rest, deadline } = splitDeadline(content.value, content.createdAt);
  return { shown: hashJson([rest, withoutDeadline(content)]), deadline };
}

function withoutDeadline({ responseSchema }: Content): Interrupt["responseSchema"] {
  if (responseSchema === null) return null;
  const { [DEADLINE_MEMBER]: _deadline, ...rest } = responseSchema;
  return rest;
}

/** A question in the place of one that a run gave up, where one of them has review rules: a person may have seen that one. */
export function replacesReviewed(known: readonly Interrupt[], open: Interrupt): boolean {
  const before = known.filter((one) => one.state === "abandoned" && interruptKey(one) === interruptKey(open));
  return before.some((one) => one.review !== null || open.review !== null);
}

export const REPLACED =
  'Another question stood in its place before: send {"<interrupt id>": <answer>} for the one that you have seen.';

/** In the form of the library's ids, by which answers are told from maps of answers. */
function newId({ interruptId }: Raised, runId: string): string {
  return hash("sha256", `asked again ${interruptId} ${runId}`).slice(0, 32);
}

/** Identity of an interrupt across library versions, which change its id. */
export function interruptKey({ graphNs, taskId, index }: Pick<Interrupt, "graphNs" | "taskId" | "index">): string {
  return `${graphNs} ${taskId} ${index}`;
}
