// Short ids: the form of an id in texts for people, the same in the console and the command line. Pure.
// Invariants:
//   - A short id is the beginning of its id: the command line finds the object by it.

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HASH = /^[0-9a-f]{32}$/;

/** 8 characters of a hash; 13 of a UUID, whose beginning is the millisecond of its creation. Other texts stay whole. */
export function shortId(id: string): string {
  return UUID.test(id) ? id.slice(0, 13) : HASH.test(id) ? id.slice(0, 8) : id;
}

/** `["ab12cd…", …]` → the forms of shortId, all of one length; longer where ids begin alike. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const least = ids.reduce((length, id) => Math.max(length, shortId(id).length), 0);
  const sorted = [...new Set(ids)].toSorted();
  const shared = sorted.map((id, index) => commonLength(id, sorted[index + 1] ?? ""));
  const length = Math.max(least, ...shared.map((units) => units + 1));
  return (id) => id.slice(0, length);
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
