// Answer addresses port: one-use addresses at which a person gives one decision on an item, over any channel.
import type { Interrupt } from "../model/model.ts";
import type { Tx } from "./storage.ts";

export interface AnswerAddress {
  readonly person: string;
  /** `approve`, `reject`, …: a POST to the URL gives it, a GET shows it. */
  readonly decision: string;
  readonly url: string;
  readonly expires_at: string;
}

export interface AnswerAddresses {
  /** Empty for somebody who cannot answer by addresses. */
  readonly forPerson: (item: Interrupt, person: string) => readonly AnswerAddress[];
  /** For the people whom the item waits for; without review rules, for those of the notification file. */
  readonly forReviewers: (tx: Pick<Tx, "person" | "people">, item: Interrupt) => Promise<readonly AnswerAddress[]>;
}
