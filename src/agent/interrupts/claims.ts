import { ApiError } from "../../base/api-error.ts";
import { isoTime } from "../../base/clock.ts";
import type { Caller, Claim, Interrupt } from "../model/model.ts";

export function holdingClaim({ claim }: Interrupt, at: number): Claim | null {
  return claim === null || (claim.until !== null && claim.until <= at) ? null : claim; // claim-item.3
}

/** @throws {ApiError} `interrupt_claimed` when somebody else has claimed one of the items (claim-item.1). */
export function checkClaims(items: readonly (Interrupt | null)[], caller: Caller, at: number): void {
  for (const item of items) {
    const claim = item === null ? null : holdingClaim(item, at);
    if (item !== null && claim !== null && claim.by !== caller.name) throw claimed(item, claim);
  }
}

export function claimed({ interruptId }: Interrupt, claim: Claim): ApiError {
  return new ApiError("interrupt_claimed", `${claim.by} has claimed interrupt ${interruptId}.`, {
    interrupt_id: interruptId,
    claim: { by: claim.by, at: isoTime(claim.at), until: claim.until === null ? null : isoTime(claim.until) },
  });
}
