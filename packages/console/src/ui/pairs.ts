// Pairs: `key=value, other=2` from a filter field → an object. Pure.

/** Numbers, true, false and null in JSON form keep their type; invalid pairs are skipped. */
export function parsePairs(text: string | undefined): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const pair of (text ?? "").split(",")) {
    const at = pair.indexOf("=");
    if (at > 0) found[pair.slice(0, at).trim()] = parseValue(pair.slice(at + 1).trim());
  }
  return found;
}

function parseValue(text: string): unknown {
  return /^(true|false|null|-?\d+(\.\d+)?)$/.test(text) ? (JSON.parse(text) as unknown) : text;
}
