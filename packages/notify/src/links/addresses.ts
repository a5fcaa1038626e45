// Answer addresses: links that carry a decision, so that any channel can offer it: a workflow, a phone bot, a pager.
// Invariants:
//   - An address is for one person, one question and one decision, until its time. Whoever has it decides in the name
//     of the person, so only the person, and receivers that the operator names, get it.
import { isoTime, type Clock } from "@holdpoint/base/clock.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { AnswerAddress, AnswerAddresses } from "@holdpoint/server/ports/answer-addresses.ts";
import { buildItemView } from "../items/item-view.ts";
import type { Directory } from "../rules/directory.ts";
import { LINK_PATH } from "./link-page.ts";
import { writeToken } from "./link-token.ts";

export interface AddressPorts {
  readonly directory: Directory;
  readonly secret: string;
  readonly forMs: number;
  readonly publicUrl: () => string;
  readonly clock: Pick<Clock, "now">;
}

const PEOPLE_MAX = 20;

export function createAnswerAddresses({ directory, secret, forMs, publicUrl, clock }: AddressPorts): AnswerAddresses {
  const forPerson = (item: Interrupt, person: string): readonly AnswerAddress[] => {
    if (!directory.stillNames(person, item) || item.review?.excluded.includes(person) === true) return [];
    const { threadId, interruptId } = item;
    const expiresAt = clock.now() + forMs;
    return buildItemView(item).choices.map((choice) => {
      const token = writeToken({ threadId, interruptId, person, expiresAt, choice }, secret);
      return { person, decision: choice, url: `${publicUrl()}${LINK_PATH}/${token}`, expires_at: isoTime(expiresAt) };
    });
  };
  return {
    forPerson,
    async forReviewers(tx, item) {
      const names = new Set<string>();
      for (const entry of item.review?.assignees.flat() ?? []) {
        const group = /^group:(.+)$/.exec(entry)?.[1];
        const found = group === undefined ? [await directory.byName(tx, entry)] : await directory.inGroup(tx, group);
        for (const { name } of found) names.add(name);
      }
      const people = names.size === 0 ? directory.listedNames : [...names];
      return people.slice(0, PEOPLE_MAX).flatMap((person) => forPerson(item, person));
    },
  };
}
