// Diff: the differences between two JSON values by member, and between two texts by word. Pure.
import microdiff from "microdiff";
import { findCommon } from "./line-diff.ts";

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

/** Keeps the common words; the rest is removed or added. With too many differences that is the whole text. */
export function textPieces(before: string, after: string): readonly Piece[] {
  const [old, young] = [words(before), words(after)];
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  for (const [nextOld, nextYoung] of [...(findCommon(old, young) ?? []), [old.length, young.length] as const]) {
    pieces.push({ kind: "removed", text: old.slice(i, nextOld).join("") });
    pieces.push({ kind: "added", text: young.slice(j, nextYoung).join("") });
    pieces.push({ kind: "same", text: old[nextOld] ?? "" });
    [i, j] = [nextOld + 1, nextYoung + 1];
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
