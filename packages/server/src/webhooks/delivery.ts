// Delivery: the result of one attempt to deliver rows of the outbox, for every channel.
import type { DeliveryChannel, Webhook } from "../model/model.ts";
import type { Awaitable, DeliveryTx } from "../ports/ports.ts";

export type DeliveryOutcome =
  /** `record` runs in the transaction that deletes the rows. */
  | { readonly kind: "sent"; readonly record?: (tx: DeliveryTx) => Awaitable<void> }
  /** `replied`: promptly, with an error, so that the destination does not count as slow. */
  | {
      readonly kind: "failed";
      readonly reason: string;
      readonly replied: boolean;
      /** The destination asks for this wait: the host rests, too. */
      readonly afterMs?: number;
    }
  /** The destination is over a limit: the attempt does not count, and the host rests. */
  | { readonly kind: "limited"; readonly afterMs: number }
  /** A retry cannot succeed. `record` as above: what happens instead. */
  | { readonly kind: "refused"; readonly reason: string; readonly record?: (tx: DeliveryTx) => Awaitable<void> };

/** @param rows one row, or several of one batch */
export type Deliver = (rows: readonly Webhook[], signal: AbortSignal) => Promise<DeliveryOutcome>;

/** Channels of this process besides HTTP. Rows of an absent one are dropped. */
export type Channels = Partial<Readonly<Record<Exclude<DeliveryChannel, "http">, Deliver>>>;
