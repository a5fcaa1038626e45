// Signature: whether a request comes from Slack, by its signing secret (version v0). Pure.
// Invariants:
//   - The signature covers the time and the body as it was sent; the comparison takes constant time.
//   - A request of another time than the last or next five minutes is refused.
import { createHmac, timingSafeEqual } from "node:crypto";

/** Slack's own limit. */
export const TOLERANCE_SECS = 5 * 60;

export interface SignedRequest {
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly body: string;
}

/** @returns the reason of the refusal, or null */
export function signatureProblem(
  { timestamp, signature, body }: SignedRequest,
  secret: string,
  now: number,
): string | null {
  if (timestamp === undefined || signature === undefined) return "The request has no signature of Slack.";
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECS)
    return "The time of the request is more than five minutes off.";
  const wanted = Buffer.from(`v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`);
  const given = Buffer.from(signature);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return null;
  return "The signature does not match SLACK_SIGNING_SECRET.";
}
