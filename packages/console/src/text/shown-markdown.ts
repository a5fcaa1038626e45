// Shown Markdown: what the rendered form of a text would leave out, as text in its place. People decide by the rendered
// form, and graphs act on the text. A plugin of remark; pure.
// Invariant shown-markdown.1: every word of the text is in the rendered form: addresses and titles of links, definitions
// and notes, the words behind a code fence, and cells beyond the head of a table.

interface Node {
  readonly type: string;
  children?: Node[];
  value?: string;
  align?: (string | null)[];
  readonly url?: string;
  readonly title?: string | null;
  readonly lang?: string | null;
  readonly meta?: string | null;
  readonly position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } };
}

interface Source {
  readonly value: unknown;
}

/** Named in the tools of readers, and no sentence. */
const LANGUAGE = /^[\w+#.-]{1,20}$/;

export function showLeftOut() {
  return (tree: Node, { value }: Source): void => show(tree, String(value));
}

function show(node: Node, source: string): void {
  if (node.type === "table") widen(node);
  if (node.children === undefined) return;
  node.children = node.children.flatMap((child) => withLeftOut(child, source));
  for (const child of node.children) show(child, source);
}

function withLeftOut(node: Node, source: string): Node[] {
  const { type, lang, meta, title } = node;
  if (type === "definition" || type === "footnoteDefinition") return [paragraph(readSource(node, source))];
  if (type === "footnoteReference") return [textNode(readSource(node, source))];
  if (type === "code" && (meta || !LANGUAGE.test(lang ?? "x")))
    return [paragraph([lang, meta].filter(Boolean).join(" ")), node];
  if (type === "image") return title ? [node, textNode(` ${title}`)] : [node];
  return type === "link" ? [node, ...describeLink(node)] : [node];
}

/** Nothing for an address that is its own text. */
function describeLink(node: Node): Node[] {
  const { url = "", title } = node;
  const own = readText(node);
  const isShown = ["", "mailto:", "http://", "https://"].some((start) => url === start + own);
  const parts = [isShown ? null : url, title].filter(Boolean);
  return parts.length === 0 ? [] : [textNode(` (${parts.join(" ")})`)];
}

/** The rendered form has as many columns as the head. */
function widen(table: Node): void {
  const widest = Math.max(...(table.children ?? []).map(({ children = [] }) => children.length));
  const align = table.align ?? [];
  table.align = [...align, ...Array.from({ length: Math.max(0, widest - align.length) }, () => null)];
}

function readText({ value = "", children = [] }: Node): string {
  return value + children.map(readText).join("");
}

function readSource({ position }: Node, source: string): string {
  return source.slice(position?.start.offset ?? 0, position?.end.offset ?? source.length);
}

const textNode = (value: string): Node => ({ type: "text", value });
const paragraph = (value: string): Node => ({ type: "paragraph", children: [textNode(value)] });
