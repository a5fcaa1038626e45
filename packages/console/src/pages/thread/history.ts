// History: checkpoints as rows of a timeline with rails that show forks. Pure.
// Invariants:
//   history.1. A checkpoint continues the rail of its newest child; every other child starts its own rail.
//   history.2. Rails are reused after their end.
import type { ThreadState } from "../../api/types.ts";

export interface Step {
  readonly id: string;
  readonly parentId: string | null;
  readonly state: ThreadState;
  readonly rail: number;
  /** Rails that pass, start or end here, for drawing. */
  readonly rails: readonly number[];
  /** Rails of later forks that join this one here. */
  readonly joins: readonly number[];
  readonly number: number | null;
  readonly source: string;
  /** Since its parent; null for the first. */
  readonly durationMs: number | null;
  /** Top-level members that differ from the parent. */
  readonly changed: readonly string[];
}

/** @param states newest first. */
export function buildSteps(states: readonly ThreadState[]): readonly Step[] {
  const byId = new Map(states.map((state) => [readCheckpointId(state), state]));
  /** Rail → its next expected checkpoint. */
  const expected: (string | null)[] = [];
  return states.map((state): Step => {
    const id = readCheckpointId(state);
    const parentId = state.parent_checkpoint?.checkpoint_id ?? null;
    const waiting = expected.flatMap((wanted, rail) => (wanted === id ? [rail] : []));
    const free = expected.indexOf(null);
    const rail = waiting[0] ?? (free === -1 ? expected.length : free); // history.1, history.2
    for (const one of waiting) expected[one] = null;
    expected[rail] = id;
    const rails = expected.flatMap((wanted, one) => (wanted === null && !waiting.includes(one) ? [] : [one]));
    expected[rail] = parentId;
    const parent = parentId === null ? undefined : byId.get(parentId);
    return {
      id,
      parentId,
      state,
      rail,
      rails,
      joins: waiting.slice(1),
      number: typeof state.metadata["step"] === "number" ? state.metadata["step"] : null,
      source: typeof state.metadata["source"] === "string" ? state.metadata["source"] : "loop",
      durationMs: parent === undefined ? null : measureDuration(parent.created_at, state.created_at),
      changed: parent === undefined ? [] : Object.keys(changedMembers(parent.values, state.values)),
    };
  });
}

export const readCheckpointId = (state: ThreadState): string => state.checkpoint?.checkpoint_id ?? "";

/** Top-level members of `after` that differ from `before`. */
export function changedMembers(before: unknown, after: unknown): Readonly<Record<string, unknown>> {
  if (!isMembers(after)) return {};
  const old = isMembers(before) ? before : {};
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value)),
  );
}

function measureDuration(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
