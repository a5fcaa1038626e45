// Lock keys: what an advisory lock is taken on, as PostgreSQL wants it: two 32-bit numbers made of a name.
// Two names that share a lock by chance wait for each other and do no harm.

/** The lock that whoever changes a thread, or anything that belongs to it, holds until its commit. */
export const threadKey = (threadId: string): string => `thread ${threadId}`;

/** FNV-1a twice, from different starts. */
export function lockNumbers(key: string): readonly [number, number] {
  let high = 0x811c9dc5;
  let low = 0x01000193 ^ key.length;
  for (let at = 0; at < key.length; at++) {
    const unit = key.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995);
    low ^= low >>> 13;
  }
  return [high | 0, low | 0];
}
