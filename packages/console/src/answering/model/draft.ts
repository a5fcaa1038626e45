// Draft: an unconfirmed answer, with everything its confirmation shows.
import type { Json } from "../../json/json.ts";
import type { Action, Decision } from "./request.ts";

export type DraftPart =
  | { readonly kind: "decision"; readonly action: Action; readonly decision: Decision }
  | { readonly kind: "value"; readonly before: Json | undefined; readonly after: Json }
  | { readonly kind: "text"; readonly title: string; readonly text: string };

export interface Draft {
  /** "Approve refund". */
  readonly label: string;
  /** Undefined to continue at a breakpoint. */
  readonly resume: Json | undefined;
  readonly parts: readonly DraftPart[];
}

const VERBS = {
  approve: "Approve",
  edit: "Edit",
  reject: "Reject",
  respond: "Respond to",
  ignore: "Ignore",
} as const satisfies Readonly<Record<Decision["type"], string>>;

/** "Approve refund", "Approve 3 actions", "Approve 2, reject 1". Pure. */
export function formatDecisionLabel(actions: readonly Action[], decisions: readonly Decision[]): string {
  const [only] = actions;
  const [first] = decisions;
  if (only === undefined || first === undefined) return "Answer";
  if (actions.length === 1) return `${VERBS[first.type]} ${only.name}`;
  const groups = [...Map.groupBy(decisions, ({ type }) => type)].map(
    ([type, list]) => [VERBS[type], list.length] as const,
  );
  if (groups.length === 1) return `${VERBS[first.type]} ${actions.length} actions`;
  const text = groups
    .map(([verb, count]) => `${verb} ${count}`)
    .join(", ")
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
