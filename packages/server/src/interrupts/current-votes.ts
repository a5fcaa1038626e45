// Current votes: those of people and keys that may still answer. A removed person, a person without the role, and a key
// that is revoked, expired or no reviewer's any more must not decide by a vote from before; nor must a contact whom the
// notification file does not name any more, and a person whose groups the rules of the question leave out by now. Groups
// of the notification file count for votes from there only: such a vote stays with its person.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt, Vote } from "../model/model.ts";
import { reviewRefusal, toCaller } from "../model/review/reviewers.ts";
import type { Access, CredentialTx } from "../ports/ports.ts";

export interface Voters {
  readonly access: Pick<Access, "isCurrent"> | null;
  /** Whether a person who voted by e-mail is still one. */
  readonly isContact: (name: string, item: Interrupt) => boolean;
}

/** @param metadata of their thread @returns the interrupts without votes of names that may not answer any more */
export async function dropLostVotes(
  { access, isContact }: Voters,
  tx: CredentialTx,
  interrupts: readonly Interrupt[],
  metadata: JsonObject,
): Promise<readonly Interrupt[]> {
  const counts = async (item: Interrupt, vote: Vote): Promise<boolean> =>
    (vote.via !== "email" || isContact(vote.by, item)) &&
    ((await access?.isCurrent?.(tx, { ...vote, metadata })) ?? true) &&
    (await isStillReviewer(tx, item, vote));
  const current: Interrupt[] = [];
  for (const one of interrupts) {
    const votes: Vote[] = [];
    for (const vote of one.review?.votes ?? []) if (await counts(one, vote)) votes.push(vote);
    const isSame = one.review === null || votes.length === one.review.votes.length;
    current.push(isSame ? one : { ...one, review: { ...one.review, votes } });
  }
  return current;
}

/** A key is its name, and has no groups; neither has anybody whom the directory does not know. */
async function isStillReviewer(tx: CredentialTx, item: Interrupt, { by, via }: Vote): Promise<boolean> {
  const person = via === undefined ? await tx.person(by) : null;
  return person === null || reviewRefusal(item, toCaller(person)) === null;
}
