// Backend port: the tracing service. An adapter reports the outcome of one request; the caller decides how to react.
import type { Body } from "../../encode/batch-body.ts";
import type { BodyEncoding } from "../../encode/batch-body.ts";

export type SendOutcome =
  | { readonly kind: "sent" }
  /** A transient cause: retry, not before `afterMs` if the backend requested a delay. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number | null }
  /** The key or the address is wrong: the runs stay queued. */
  | { readonly kind: "parked"; readonly reason: string }
  | { readonly kind: "too_large"; readonly reason: string }
  /** The body is invalid: the backend will never accept it unchanged. */
  | { readonly kind: "refused"; readonly reason: string };

/** Limits from the backend, or assumed ones. */
export interface BackendLimits {
  readonly runsMax: number;
  readonly bytesMax: number;
  readonly encoding: BodyEncoding;
}

export interface Backend {
  /** Never rejects. Ends early when the signal aborts. After `sent` the body has no reader left. */
  readonly send: (body: Body, signal: AbortSignal) => Promise<SendOutcome>;
  /** The newest known limits. Never waits: it requests unknown limits in the background. */
  readonly limits: () => BackendLimits;
  readonly close: () => void;
}
