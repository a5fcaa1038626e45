// Current votes: those of people and keys that may still answer. A removed person, a person without the role, and a key
// that is revoked, expired or no reviewer's any more must not decide by a vote from before.
import type { Interrupt } from "../model/model.ts";
import type { Access, Tx } from "../ports/ports.ts";

/** @returns the interrupts without votes of names that may not answer any more */
export async function dropLostVotes(
  access: Pick<Access, "isCurrent"> | null,
  tx: Pick<Tx, "person" | "keysNamed">,
  interrupts: readonly Interrupt[],
): Promise<readonly Interrupt[]> {
  const isCurrent = access?.isCurrent?.bind(access);
  const voters = new Map(interrupts.flatMap(({ review }) => review?.votes.map((vote) => [vote.by, vote]) ?? []));
  if (isCurrent === undefined || voters.size === 0) return interrupts;
  const lost = new Set<string>();
  for (const [name, vote] of voters) if (!(await isCurrent(tx, vote))) lost.add(name);
  if (lost.size === 0) return interrupts;
  return interrupts.map((one) => {
    if (one.review === null) return one;
    const votes = one.review.votes.filter(({ by }) => !lost.has(by));
    return votes.length === one.review.votes.length ? one : { ...one, review: { ...one.review, votes } };
  });
}
