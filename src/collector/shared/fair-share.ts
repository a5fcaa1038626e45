// Share: how much of a room (memory, spool) one key may take, so that no key fills it for the others.
// Invariants:
//   SH1. While others hold something, a key that holds half of the room gets no more.
//   SH2. The last eighth is for keys that hold less than a sixteenth: who comes when the rest is taken still gets in. In the
//        spool it lies in files of its own by then, and these go as soon as such keys are served, whatever stays in older ones.

export interface Room {
  readonly bytesMax: number;
  /** All that is taken. */
  readonly takenBytes: number;
  /** What the key holds, and what other keys do. */
  readonly ownBytes: number;
  readonly otherBytes: number;
}

export function fitsShare(bytes: number, { bytesMax, takenBytes, ownBytes, otherBytes }: Room): boolean {
  const taken = takenBytes + bytes;
  if (taken > bytesMax) return false;
  if (ownBytes < bytesMax / 16) return true;
  if (taken > bytesMax * 0.875) return false; // SH2
  return otherBytes <= 0 || ownBytes + bytes <= bytesMax / 2; // SH1
}
