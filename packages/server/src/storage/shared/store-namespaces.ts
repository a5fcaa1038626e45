// Store namespaces: namespaces of the long-term store as sortable text with a mark at each label's end, and the
// geometry of its vectors, the same for every adapter.

/** `["a", "b"]` → `"a.b."`: a prefix of the namespace and all below it. Labels have no dots. */
export const encodeNamespace = (labels: readonly string[]): string => labels.map((label) => `${label}.`).join("");
export const decodeNamespace = (ns: string): readonly string[] => ns.slice(0, -1).split(".");

/** `"a.b."` → `["", "a.", "a.b."]` */
export function listPrefixes(ns: string): readonly string[] {
  const labels = decodeNamespace(ns);
  return ["", ...labels.map((_, at) => encodeNamespace(labels.slice(0, at + 1)))];
}

/** The first text after all with this encoded prefix: "/" follows "." in Unicode. */
export const afterNamespace = (ns: string): string => `${ns.slice(0, -1)}/`;

/** @param pattern labels; `*` matches any one label */
export function matchesLabels(labels: readonly string[], pattern: readonly string[], from: number): boolean {
  if (from < 0 || pattern.length > labels.length) return false;
  return pattern.every((label, at) => label === "*" || label === labels[from + at]);
}

/** The same direction with length 1, so that a cosine is one sum of products; null for a zero vector. */
export function unitVector(vector: Float32Array): Float32Array | null {
  const length = Math.hypot(...vector);
  return length > 0 && Number.isFinite(length) ? vector.map((number) => number / length) : null;
}

/** Cosine of the angle between unit vectors; null if their dimensions differ. */
export function cosine(a: Float32Array, b: Float32Array): number | null {
  if (a.length !== b.length) return null;
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

export function toFloats(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / Float32Array.BYTES_PER_ELEMENT);
}
