// Token sums: which of the counts of a call contain the counts of a part. Senders disagree, and only their own total
// tells them apart.
// Invariants:
//   - Cached tokens are outside of input when there are more of them than of input, or when the total is the sum with
//     them on top. Reasoning tokens are outside of output by the same two signs.
//   - Gemini's total has the prompts of tools, too, which are in no other count.
//   - The sender's total stays, unless a sum that was made here is above it or input was corrected.
import { type Count, plus } from "./exact-count.ts";

export interface GivenCounts {
  readonly input: Count | undefined;
  readonly output: Count | undefined;
  /** The sender's own total. */
  readonly total: Count | undefined;
  readonly cached: Count;
  readonly reasoning: Count;
  /** Prompts of tools. */
  readonly tools: Count;
  /** The sender is known to count cached tokens apart. */
  readonly cacheIsApart: boolean;
}

interface Sums {
  readonly input: Count | undefined;
  readonly output: Count | undefined;
  readonly total: Count | undefined;
}

/** Input with cached tokens, output with reasoning. */
export function tokenSums(given: GivenCounts): Sums {
  const { total, cached, reasoning } = given;
  if (cached === 0 && reasoning === 0) return withTotal(given, given, total);
  const input = cacheIsOnTop(given) ? plus(given.input ?? 0, cached) : given.input;
  const output = reasoningIsOnTop(given, input) ? plus(given.output ?? 0, reasoning) : given.output;
  const sum = plus(input ?? 0, output ?? 0);
  const isBelow = output !== given.output && total !== undefined && total < sum;
  return withTotal({ input, output }, given, input !== given.input || isBelow ? undefined : total);
}

function withTotal(
  { input, output }: Pick<Sums, "input" | "output">,
  given: GivenCounts,
  total: Count | undefined,
): Sums {
  const isKnown = input !== undefined || output !== undefined;
  return { input, output, total: total ?? (isKnown ? plus(input ?? 0, output ?? 0) : given.total) };
}

function cacheIsOnTop({ input = 0, output = 0, total, cached, reasoning, cacheIsApart }: GivenCounts): boolean {
  if (cached === 0) return false;
  if (cacheIsApart || cached > input) return true;
  const onTop = plus(plus(input, output), cached);
  return total !== undefined && (total === onTop || (reasoning !== 0 && total === plus(onTop, reasoning)));
}

function reasoningIsOnTop(given: GivenCounts, input: Count | undefined): boolean {
  const { output, total, reasoning, tools } = given;
  if (reasoning === 0) return false;
  if (output !== undefined && reasoning > output) return true;
  if (total === undefined) return false;
  const onTop = plus(plus(input ?? 0, output ?? 0), reasoning);
  return total === onTop || (tools !== 0 && total === plus(onTop, tools));
}
