// Review: who may answer a request and how many must agree, as the member of its response schema that only code of the
// graph writes.
import type { JsonSchema } from "./answer-schema.ts";

export interface Review {
  /** People who may answer: names as in the audit trail, e-mail addresses, `group:<name>`. */
  readonly assignees?: readonly string[];
  /** Number of different people who must give the same answer. Default: 1. */
  readonly approvals?: number;
  /** Number of rejections that end the vote. Default: 1. */
  readonly rejections?: number;
  /** People whose input or edits the run has may not answer. */
  readonly fourEyes?: boolean;
  /** Further people who may not answer. */
  readonly exclude?: readonly string[];
  /** After so many seconds these people join the assignees, and get a notification. */
  readonly escalate?: readonly { readonly afterSeconds: number; readonly assignees: readonly string[] }[];
}

/** The most urgent first in the inbox's order of priorities. */
export type Priority = "urgent" | "high" | "normal" | "low";

export interface Rules {
  /** Who may answer, and how many must agree. */
  readonly review?: Review;
  /** Default: normal. */
  readonly priority?: Priority;
}

export function withRules(schema: JsonSchema, { review, priority }: Rules): JsonSchema {
  const urgent = priority === undefined ? schema : { ...schema, "x-holdpoint-priority": priority };
  if (review === undefined) return urgent;
  const { fourEyes, escalate, ...same } = review;
  const rules = {
    ...same,
    ...(fourEyes === undefined ? {} : { four_eyes: fourEyes }),
    ...(escalate === undefined
      ? {}
      : { escalate: escalate.map(({ afterSeconds, assignees }) => ({ after_seconds: afterSeconds, assignees })) }),
  };
  return { ...urgent, "x-holdpoint-review": rules };
}
