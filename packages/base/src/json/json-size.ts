// JSON size: whether the JSON text of a value has more bytes than a limit.
// Invariants:
//   json-size.1. The count is the one of JSON.stringify, for values that JSON.parse gives.
//   json-size.2. It ends at the limit: its time depends on the limit, not on the value.

export function exceedsBytes(value: unknown, bytesMax: number): boolean {
  return rest(value, bytesMax) < 0;
}

/** @returns what the value leaves of `left`, or a negative number */
function rest(value: unknown, left: number): number {
  if (typeof value === "string") return left - bytesOfText(value, left);
  if (typeof value !== "object" || value === null) return left - String(value).length;
  let bytes = left - 2;
  if (Array.isArray(value)) {
    if (value.length > 1) bytes -= value.length - 1;
    for (let at = 0; at < value.length && bytes >= 0; at++) bytes = rest(value[at], bytes); // json-size.2
    return bytes;
  }
  let comma = 0;
  for (const key in value) {
    bytes = rest((value as Record<string, unknown>)[key], bytes - bytesOfText(key, bytes) - 1 - comma);
    if (bytes < 0) return bytes;
    comma = 1;
  }
  return bytes;
}

function bytesOfText(text: string, left: number): number {
  return text.length > left ? text.length : Buffer.byteLength(JSON.stringify(text));
}
