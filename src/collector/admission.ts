// Admission: how many bytes may be in memory at once, and whose.
// Invariants:
//   AD1. Bytes of requests under way plus bytes held further down the line stay below `bytesMax`; refusing is immediate.
//   AD2. When nothing else is held, one request may be larger than that, up to the limit of a body.
//   AD3. No key fills it for the others: SH1 and SH2 (share.ts).
import { fitsShare } from "./share.ts";

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

export function createAdmission(options: AdmissionOptions): Admission {
  let transit = 0;
  const transitOf = new Map<string, number>();

  return {
    transitBytes: () => transit,
    enter(tenantId) {
      let own = 0;
      const move = (bytes: number): void => {
        own += bytes;
        transit += bytes;
        const left = (transitOf.get(tenantId) ?? 0) + bytes;
        if (left === 0) transitOf.delete(tenantId);
        else transitOf.set(tenantId, left);
      };
      return {
        grow(bytes) {
          const takenBytes = transit + options.heldBytes();
          const ownBytes = (transitOf.get(tenantId) ?? 0) + options.heldBytesOf(tenantId);
          const room = { bytesMax: options.bytesMax, takenBytes, ownBytes, otherBytes: takenBytes - ownBytes };
          if (takenBytes !== own && !fitsShare(bytes, room)) return false; // AD1, AD2, AD3
          move(bytes);
          return true;
        },
        leave: () => move(-own),
      };
    },
  };
}
