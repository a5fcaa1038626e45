// JSON tree: a JSON text as nodes with their positions, so that an edit changes one token and leaves the rest of the text
// as the sender wrote it.
// Invariant json-tree.1: at most DEPTH_MAX containers nest, and the text bounds the nodes.

export interface JsonNode {
  readonly kind: "object" | "array" | "string" | "number" | "other";
  readonly start: number;
  readonly end: number;
  /** Of an object, in order. */
  readonly members: readonly JsonMember[];
  /** Of an array. */
  readonly items: readonly JsonNode[];
}

export interface JsonMember {
  readonly key: JsonNode;
  readonly value: JsonNode;
}

const DEPTH_MAX = 512;
const NONE: readonly never[] = Object.freeze([]);

/** null: not JSON, or nested too deep. `from` is the start of the value; text may follow it. */
export function jsonTree(text: string, from = 0): JsonNode | null {
  const reader: Reader = { text, at: from, depth: 0 };
  return value(reader);
}

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
}

function value(reader: Reader): JsonNode | null {
  skipSpace(reader);
  const char = reader.text[reader.at];
  if (char === '"') return stringNode(reader);
  if (char !== "{" && char !== "[") return scalar(reader);
  if (reader.depth >= DEPTH_MAX) return null; // json-tree.1
  reader.depth++;
  const node = char === "{" ? objectNode(reader) : arrayNode(reader);
  reader.depth--;
  return node;
}

export function skipSpace(reader: { readonly text: string; at: number }): void {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    reader.at++;
  }
}

/** The position after the closing quote, -1 without one. */
export function stringEnd(text: string, open: number): number {
  let at = open + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return -1;
    let slashes = 0;
    while (text[quote - slashes - 1] === "\\" && quote - slashes - 1 > open) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

const BRACKET_OR_QUOTE = /["[\]{}]/g;

/** The position after the value that begins here; -1 when it does not end. The inside of a container is not checked. */
export function valueEnd(text: string, from: number): number {
  if (text[from] === '"') return stringEnd(text, from);
  if (text[from] !== "{" && text[from] !== "[") return -1;
  let depth = 0;
  BRACKET_OR_QUOTE.lastIndex = from;
  for (let found = BRACKET_OR_QUOTE.exec(text); found !== null; found = BRACKET_OR_QUOTE.exec(text)) {
    const [char] = found;
    if (char === '"') {
      const end = stringEnd(text, found.index);
      if (end < 0) return -1;
      BRACKET_OR_QUOTE.lastIndex = end;
    } else if (char === "{" || char === "[") depth++;
    else if (--depth === 0) return found.index + 1;
  }
  return -1;
}

function stringNode(reader: Reader): JsonNode | null {
  const start = reader.at;
  const end = stringEnd(reader.text, start);
  if (end < 0) return null;
  reader.at = end;
  return { kind: "string", start, end, members: NONE, items: NONE };
}

const SCALAR = /(?:(-?\d[\d.eE+-]*)|true|false|null)/y;

function scalar(reader: Reader): JsonNode | null {
  const start = reader.at;
  SCALAR.lastIndex = start;
  const found = SCALAR.exec(reader.text);
  if (found === null) return null;
  reader.at = start + found[0].length;
  return { kind: found[1] === undefined ? "other" : "number", start, end: reader.at, members: NONE, items: NONE };
}

function objectNode(reader: Reader): JsonNode | null {
  const { text } = reader;
  const start = reader.at++;
  const members: JsonMember[] = [];
  skipSpace(reader);
  while (text[reader.at] !== "}") {
    skipSpace(reader);
    const key = text[reader.at] === '"' ? stringNode(reader) : null;
    skipSpace(reader);
    if (key === null || text[reader.at++] !== ":") return null;
    const member = value(reader);
    if (member === null) return null;
    members.push({ key, value: member });
    skipSpace(reader);
    if (text[reader.at] === ",") reader.at++;
    else if (text[reader.at] !== "}") return null;
  }
  return { kind: "object", start, end: ++reader.at, members, items: NONE };
}

function arrayNode(reader: Reader): JsonNode | null {
  const { text } = reader;
  const start = reader.at++;
  const items: JsonNode[] = [];
  skipSpace(reader);
  while (text[reader.at] !== "]") {
    const item = value(reader);
    if (item === null) return null;
    items.push(item);
    skipSpace(reader);
    if (text[reader.at] === ",") reader.at++;
    else if (text[reader.at] !== "]") return null;
  }
  return { kind: "array", start, end: ++reader.at, members: NONE, items };
}

/** The text of a string token, without its quotes and escapes. A wrong escape stays as it is. */
export function textOfToken(text: string, { end, start }: Pick<JsonNode, "start" | "end">): string {
  const raw = text.slice(start + 1, end - 1);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}

/** Replacements in ascending order, without overlaps. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function withEdits(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits) {
    parts.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}
