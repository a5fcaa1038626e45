// Owner: the worker of a trace, by a hash of all bytes of its id: some senders put the time into the first four.
// Invariants:
//   owner.1. The same trace has the same owner in every encoding and for every tenant, while the number of workers
//        stays.

const ID_BYTES = 16;

/** The trace id in 16 bytes at `at`; -1 for an id of zeros. */
export function ownerOfBytes(b: Buffer, at: number, workers: number): number {
  const first = b.readUInt32LE(at);
  const second = b.readUInt32LE(at + 4);
  const third = b.readUInt32LE(at + 8);
  const fourth = b.readUInt32LE(at + 12);
  if ((first | second | third | fourth) === 0) return -1;
  let hash = mixed(0x9e3779b9, first);
  hash = mixed(hash, second);
  hash = mixed(hash, third);
  hash = mixed(hash, fourth);
  return (hash >>> 0) % workers;
}

function mixed(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x85ebca6b);
  const folded = Math.imul(product ^ (product >>> 13), 0xc2b2ae35);
  return folded ^ (folded >>> 16);
}

const scratch = Buffer.alloc(ID_BYTES);

/** 32 hex digits: a trace id, or the hash that names a tenant. */
export function ownerOfHex(hex: string, workers: number): number {
  return scratch.write(hex, "hex") === ID_BYTES ? ownerOfBytes(scratch, 0, workers) : 0;
}
