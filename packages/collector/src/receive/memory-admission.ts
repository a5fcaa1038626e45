// Memory admission: limits the bytes in memory, in total and per tenant.
// Invariants:
//   - Bytes of active requests plus bytes held by later steps stay below `bytesMax`. A refusal is immediate.
//   - When memory is otherwise empty, one request may exceed `bytesMax`, up to the limit of a body.
//   memory-admission.3. No key fills the memory for the others: fair-share.1 and fair-share.2 (fair-share.ts).
import { fitsShare } from "../shared/fair-share.ts";

export interface Admission {
  /** null: no room. */
  readonly enter: (tenantId: string) => Passage;
  /** Bytes of active requests. */
  readonly transitBytes: () => number;
}

/** The admission of one request. */
export interface Passage {
  /** False: the additional bytes do not fit. */
  readonly grow: (bytes: number) => boolean;
  readonly leave: () => void;
}

export interface AdmissionOptions {
  readonly bytesMax: number;
  /** Held by later steps: waiting spans, open batches, sealed bodies. */
  readonly heldBytes: () => number;
  readonly countHeldBytes: (tenantId: string) => number;
}

interface Transit {
  bytes: number;
  /** Active requests of one tenant share one entry. */
  requests: number;
}

/** Up to this many tenants without a request stay listed: removing the last entry of a map per request costs more. */
const TENANTS_KEPT = 1000;

export function createAdmission(options: AdmissionOptions): Admission {
  let transit = 0;
  const transitByTenant = new Map<string, Transit>();
  const transitFor = (tenantId: string): Transit => {
    let found = transitByTenant.get(tenantId);
    if (found === undefined) {
      if (transitByTenant.size >= TENANTS_KEPT)
        for (const [id, { requests }] of transitByTenant) if (requests === 0) transitByTenant.delete(id);
      transitByTenant.set(tenantId, (found = { bytes: 0, requests: 0 }));
    }
    return found;
  };

  return {
    transitBytes: () => transit,
    enter(tenantId) {
      let own = 0;
      const ofTenant = transitFor(tenantId);
      ofTenant.requests++;
      const move = (bytes: number): void => {
        own += bytes;
        transit += bytes;
        ofTenant.bytes += bytes;
      };
      return {
        grow(bytes) {
          const usedBytes = transit + options.heldBytes();
          const ownBytes = ofTenant.bytes + options.countHeldBytes(tenantId);
          const room = { bytesMax: options.bytesMax, usedBytes, ownBytes, otherBytes: usedBytes - ownBytes };
          if (usedBytes !== own && !fitsShare(bytes, room)) return false; // memory-admission.3
          move(bytes);
          return true;
        },
        leave() {
          move(-own);
          ofTenant.requests--;
        },
      };
    },
  };
}
