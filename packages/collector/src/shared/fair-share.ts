// Fair share: limits the part of a budget (memory, spool) that one tenant may use, so that no tenant fills it for the
// others.
// Invariants:
//   fair-share.1. While other tenants hold bytes, no tenant holds more than half of the budget.
//   fair-share.2. One eighth of the budget is for tenants using less than 1/16 of it, so new tenants get in when the
//        rest is full. In the spool their bytes are in newer files by then, which go when these tenants are served.

export interface Room {
  readonly bytesMax: number;
  /** Bytes held by all tenants. */
  readonly usedBytes: number;
  /** Bytes held by this tenant, and by the others. */
  readonly ownBytes: number;
  readonly otherBytes: number;
}

export function fitsShare(bytes: number, { bytesMax, usedBytes, ownBytes, otherBytes }: Room): boolean {
  const totalBytes = usedBytes + bytes;
  if (totalBytes > bytesMax) return false;
  if (ownBytes < bytesMax / 16) return true;
  if (totalBytes > bytesMax * 0.875) return false; // fair-share.2
  return otherBytes <= 0 || ownBytes + bytes <= bytesMax / 2; // fair-share.1
}
