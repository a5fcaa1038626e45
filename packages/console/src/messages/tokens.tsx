// Tokens: token counts and cost of model calls, in brief; empty without counts.
import type { ReactNode } from "react";
import { dollars } from "@holdpoint/api/traces/trace-costs.ts";
import { count } from "../ui/format.ts";

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
      {input + output === 0 ? null : (
        <>
          <span title="input tokens">{count(input)} in</span> · <span title="output tokens">{count(output)} out</span>
        </>
      )}
      {cost === null ? null : (
        <span title="cost, as the senders gave it">{`${input + output === 0 ? "" : " · "}${dollars(cost)}`}</span>
      )}
    </span>
  );
}
