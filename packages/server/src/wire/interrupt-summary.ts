// Interrupt summary: kind and title for lists, derived from the value passed to interrupt(). Pure.
// Invariants:
//   interrupt-summary.1. Any JSON is accepted: a value of no known dialect is a plain question (api/dialects:
//     dialects.1).
//   interrupt-summary.2. The summary is short for any length of the payload (api/text/payload-text).
import { recognise, type DecisionType, type Dialect } from "@holdpoint/api/dialects.ts";
import { formatExcerpt, isDangerous } from "@holdpoint/api/text/payload-excerpt.ts";
import { short } from "@holdpoint/api/text/payload-text.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { InterruptKind } from "../model/model.ts";

export interface PayloadSummary {
  readonly kind: Exclude<InterruptKind, "breakpoint">;
  readonly dialect: Dialect;
  /** One line for a list, at most 200 units. */
  readonly title: string;
  /** Name of the first action pending approval. */
  readonly action: string | null;
  /** Number of actions pending approval; 0 for other kinds. */
  readonly actions: number;
  readonly excerpt: string;
  /** Decisions that the item allows for all of its actions. */
  readonly decisions: readonly DecisionType[];
  readonly dangerous: boolean;
}

export function summarise(value: Json, responseSchema: JsonObject | null): PayloadSummary {
  const asked = recognise(value, responseSchema);
  const { kind, dialect, title, actions, allowed } = asked;
  const name = actions[0]?.name ?? null;
  return {
    kind,
    dialect,
    title,
    action: name === null ? null : short(name),
    actions: actions.length,
    excerpt: formatExcerpt(value, asked),
    decisions: allowed,
    dangerous: isDangerous(value),
  };
}
