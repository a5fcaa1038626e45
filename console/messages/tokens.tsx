// Tokens: token counts and cost of model calls, in brief; empty without counts.
import type { ReactNode } from "react";
import { count } from "../ui/format.ts";

const COST_DIGITS = 4;

export function Tokens({
  input,
  output,
  cost,
}: {
  readonly input: number;
  readonly output: number;
  readonly cost: number | null;
}): ReactNode {
  if (input + output === 0 && cost === null) return null;
  return (
    <span className="muted numeric tokens">
      <span title="input tokens">{count(input)} in</span> · <span title="output tokens">{count(output)} out</span>
      {cost === null ? null : <span> · ${cost.toFixed(COST_DIGITS)}</span>}
    </span>
  );
}
