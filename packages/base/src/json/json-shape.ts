// JSON shape: the nesting of a JSON text and the members of its objects, in one pass, before the engine reads it. The
// engine needs seconds for an object with millions of members and for millions of levels.

export type ShapeFault = "too_deep" | "too_wide";

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Linear in the text, whatever it is; a text that is not JSON has a shape too.
 * @param levels of arrays and objects at most @param membersMax of one object
 */
export function findShapeFault(text: string, levels: number, membersMax: number): ShapeFault | null {
  /** Members so far of each open object; -1 for a list. */
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = findStringEnd(text, at);
    else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      if (open.push(unit === OPEN_OBJECT ? 1 : -1) > levels) return "too_deep";
    } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) open.pop();
    else if (unit === COMMA) {
      const members = open.at(-1) ?? -1;
      if (members >= membersMax) return "too_wide";
      if (members > 0) open[open.length - 1] = members + 1;
    }
  }
  return null;
}

/** @param from the opening quote @returns the closing one, or the end of the text */
function findStringEnd(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at++;
  }
  return at;
}
