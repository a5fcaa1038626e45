// Payload kind: what lists show of a question, told from the value that its node gave to interrupt(). Pure.
// Invariants:
//   interrupt-summary.1. Any JSON is understood: what fits no dialect is a plain question (api/dialects: dialects.1).
//   interrupt-summary.2. What is said of a payload is short, however long the payload is (api/payload-text: payload-text.1).
import { recognise, type Dialect } from "../../api/dialects.ts";
import { short } from "../../api/payload-text.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import type { InterruptKind } from "../model/model.ts";

export interface PayloadSummary {
  readonly kind: Exclude<InterruptKind, "breakpoint">;
  readonly dialect: Dialect;
  /** One line for a list, at most 200 units. */
  readonly title: string;
  /** Name of the first action that waits for approval. */
  readonly action: string | null;
  /** How many actions wait for approval; 0 when it is no such question. */
  readonly actions: number;
}

export function summarise(value: Json, responseSchema: JsonObject | null): PayloadSummary {
  const { kind, dialect, title, actions } = recognise(value, responseSchema);
  const name = actions[0]?.name ?? null;
  return { kind, dialect, title, action: name === null ? null : short(name), actions: actions.length };
}
