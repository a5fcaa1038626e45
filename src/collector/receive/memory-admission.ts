// Admission: how many bytes may be in memory at once, and whose.
// Invariants:
//   AD1. Bytes of requests under way plus bytes held further down the line stay below `bytesMax`; refusing is immediate.
//   AD2. When nothing else is held, one request may be larger than that, up to the limit of a body.
//   AD3. No key fills it for the others: SH1 and SH2 (share.ts).
import { fitsShare } from "../shared/fair-share.ts";

export interface Admission {
  /** null: no room. */
  readonly enter: (tenantId: string) => Passage;
  /** Bytes of requests under way. */
  readonly transitBytes: () => number;
}

/** One request's right to hold memory. */
export interface Passage {
  /** False: no room for that much more. */
  readonly grow: (bytes: number) => boolean;
  readonly leave: () => void;
}

export interface AdmissionOptions {
  readonly bytesMax: number;
  /** Held behind the door: by waiting spans, open batches, sealed bodies. */
  readonly heldBytes: () => number;
  readonly heldBytesOf: (tenantId: string) => number;
}

interface Transit {
  bytes: number;
  /** Under way: as long as there are any, it is the one that they share. */
  requests: number;
}

/** Tenants without a request stay listed up to here: taking the last entry out of a map with each request costs more. */
const TENANTS_KEPT = 1000;

export function createAdmission(options: AdmissionOptions): Admission {
  let transit = 0;
  const transitOf = new Map<string, Transit>();
  const transitFor = (tenantId: string): Transit => {
    let found = transitOf.get(tenantId);
    if (found === undefined) {
      if (transitOf.size >= TENANTS_KEPT)
        for (const [id, { requests }] of transitOf) if (requests === 0) transitOf.delete(id);
      transitOf.set(tenantId, (found = { bytes: 0, requests: 0 }));
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
          const takenBytes = transit + options.heldBytes();
          const ownBytes = ofTenant.bytes + options.heldBytesOf(tenantId);
          const room = { bytesMax: options.bytesMax, takenBytes, ownBytes, otherBytes: takenBytes - ownBytes };
          if (takenBytes !== own && !fitsShare(bytes, room)) return false; // AD1, AD2, AD3
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
