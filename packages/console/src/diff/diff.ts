// Diff: the differences between two JSON values by member, and between two texts by word. Pure.
import microdiff from "microdiff";

export interface Change {
  /** `order.items[2].price`; empty for the whole value. */
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before: unknown;
  readonly after: unknown;
}

export function listChanges(before: unknown, after: unknown): readonly Change[] {
  return microdiff({ value: before }, { value: after }).map((one) => {
    const path = pathText(one.path.slice(1));
    if (one.type === "CREATE") return { path, kind: "added", before: undefined, after: one.value as unknown };
    if (one.type === "REMOVE") return { path, kind: "removed", before: one.oldValue as unknown, after: undefined };
    return { path, kind: "changed", before: one.oldValue as unknown, after: one.value as unknown };
  });
}

function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`),
    "",
  );
}

export interface Piece {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Limit of the product of both word counts; beyond it the whole text counts as changed. */
const CELLS_MAX = 4_000_000;

/** Keeps the longest common subsequence of words; the rest is removed or added. */
export function textPieces(before: string, after: string): readonly Piece[] {
  const [old, young] = [words(before), words(after)];
  if (old.length * young.length > CELLS_MAX)
    return joined([
      { kind: "removed", text: before },
      { kind: "added", text: after },
    ]);
  const width = young.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      const here = i * width + j;
      common[here] =
        old[i] === young[j]
          ? (common[here + width + 1] ?? 0) + 1
          : Math.max(common[here + width] ?? 0, common[here + 1] ?? 0);
    }
  }
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < young.length) {
    const here = i * width + j;
    if (i < old.length && j < young.length && old[i] === young[j]) {
      pieces.push({ kind: "same", text: old[i++] ?? "" });
      j++;
    } else if (j >= young.length || (i < old.length && (common[here + width] ?? 0) >= (common[here + 1] ?? 0))) {
      pieces.push({ kind: "removed", text: old[i++] ?? "" });
    } else pieces.push({ kind: "added", text: young[j++] ?? "" });
  }
  return joined(pieces);
}

function words(text: string): readonly string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

/** Merges neighbours of one kind. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (piece.text === "") continue;
    if (last?.kind === piece.kind) result[result.length - 1] = { kind: piece.kind, text: last.text + piece.text };
    else result.push(piece);
  }
  return result;
}
