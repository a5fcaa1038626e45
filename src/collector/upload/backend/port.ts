// Backend: the port to the tracing service. An adapter says what became of one request; it never decides what to do about it.
import type { Body } from "../../encode/batch-body.ts";
import type { BodyEncoding } from "../../encode/batch-body.ts";

export type SendOutcome =
  | { readonly kind: "sent" }
  /** A passing cause: worth another try, not before `afterMs` when the backend said so. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number | null }
  /** The key or the address is wrong, not the runs: they are kept. */
  | { readonly kind: "parked"; readonly reason: string }
  | { readonly kind: "too_large"; readonly reason: string }
  /** Something in the body is wrong: it will never be taken as it is. */
  | { readonly kind: "refused"; readonly reason: string };

/** What the backend says about itself, or what we assume. */
export interface BackendLimits {
  readonly runsMax: number;
  readonly bytesMax: number;
  readonly encoding: BodyEncoding;
}

export interface Backend {
  /** Never rejects. Ends early when the signal aborts. Once it says `sent`, nothing reads the body's bytes any more. */
  readonly send: (body: Body, signal: AbortSignal) => Promise<SendOutcome>;
  /** The newest known limits. Never waits: unknown ones are asked for in the background. */
  readonly limits: () => BackendLimits;
  readonly close: () => void;
}
