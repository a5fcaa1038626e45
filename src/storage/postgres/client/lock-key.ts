// Lock keys: names of advisory locks as PostgreSQL takes them, two 32-bit numbers per name. Two names with equal
// numbers wait for each other, which does no harm.

/** Every transaction that changes a thread or its rows holds this lock until its commit. */
export const threadKey = (threadId: string): string => `thread ${threadId}`;

/** FNV-1a twice, with different start values. */
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
