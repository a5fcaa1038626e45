// Admission: how many bytes may be in memory at once, and whose.
// Invariants:
//   AD1. Bytes of requests under way plus bytes held further down the line stay below `bytesMax`; refusing is immediate.
//   AD2. When nothing else is held, one request may be larger than that, up to the limit of a body.
//   AD3. As soon as there are several keys, a key that already holds a sixteenth leaves the last quarter to the others.

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
  readonly shrink: (bytes: number) => void;
  readonly leave: () => void;
}

export interface AdmissionOptions {
  readonly bytesMax: number;
  /** Held behind the door: by waiting spans, open batches, sealed bodies. */
  readonly heldBytes: () => number;
  readonly heldBytesOf: (tenantId: string) => number;
  readonly tenants: () => number;
}

export function createAdmission(options: AdmissionOptions): Admission {
  let transit = 0;
  return {
    transitBytes: () => transit,
    enter(tenantId) {
      let own = 0;
      return {
        grow(bytes) {
          const before = transit + options.heldBytes();
          const total = before + bytes;
          const alone = before === own; // AD2
          if (total > options.bytesMax && !alone) return false; // AD1
          if (total > options.bytesMax * 0.75 && !alone && options.tenants() > 1) {
            if (options.heldBytesOf(tenantId) > options.bytesMax / 16) return false; // AD3
          }
          own += bytes;
          transit += bytes;
          return true;
        },
        shrink(bytes) {
          own -= bytes;
          transit -= bytes;
        },
        leave() {
          transit -= own;
          own = 0;
        },
      };
    },
  };
}
