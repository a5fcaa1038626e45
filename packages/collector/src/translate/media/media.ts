// Media: base64 images, audio and files in the messages of a run become its attachments, and a reference takes their
// place. Messages stay small for the backend's search and views, and the bytes are sent once, without base64.
//   {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO…"}} → {… {"url": "attachment:image-1"}}
// Invariants:
//   media.1. Only whole content is taken: a data URL, or the value of a member that senders use for content, whose type
//        the part or its first bytes tell. Everything else, such as signatures and embeddings, stays in the text.
//   media.2. Equal content is one attachment, however often a conversation repeats it.
//   media.3. A run has at most ATTACHMENTS_MAX attachments; further content stays in the text.
//   media.4. The text stays JSON: a run of base64 is inside of one string, and a reference needs no escaping.
import type { Attachment } from "../../shared/trace-run.ts";
import { ATTACHMENTS_MAX, MEDIA_REFERENCE } from "../../shared/attachment-reference.ts";
import { base64Runs, RUN_CHARS_MIN, unescaped } from "./base64-runs.ts";
import { mediaType } from "../forms/media-type.ts";

export interface Media {
  /** @returns the text with references */
  take(text: string): string;
  /** The given ones and the taken ones. */
  attachments(): readonly Attachment[];
}

const DATA_URL = /data:(?:([\w.+-]+)\\*\/([\w.+-]+))?(?:; ?[\w.+-]+=(?:[\w.+-]+|\\*"[\w.+, -]*\\*"))*; ?base64,$/i;
const DATA_URL_CHARS_MAX = 200;
/**
 * Members of OpenAI, Anthropic, Google, Bedrock, Mistral, Ollama, LangChain, Pydantic AI, MCP, AI SDK and the GenAI
 * conventions, with one content or a list.
 */
const MEMBER =
  /(\\*)"(?:data|content|bytes|blob|base64|body|result|b64_json|(?:input_?)?(?:image|audio|video|file|document|pdf|binary)(?:s|_?data|_?bytes|_?content|_?base64|_?b64)?)\1"\s*:\s*(\[\s*)?\1"$/i;
const NEXT_ITEM = /^(\\*)"\s*,\s*\1"$/;
const MEMBER_CHARS_MAX = 60;
const UNKNOWN = "application/octet-stream";
/** Bytes as Node writes them into JSON, also in JSON inside of a text. */
const BUFFER = /\{(\\*)"type\1":\1"Buffer\1",\1"data\1":\[([\d,\s]*)\]\}/g;

function encodeBytes(_text: string, escape: string, numbers: string): string {
  return `${escape}"${Buffer.from(numbers.split(",").map(Number)).toString("base64")}${escape}"`;
}
/** On either side of the content. */
const PART_CHARS_MAX = 300;

/** @param given attachments that the sender named itself */
export function createMedia(given: readonly Attachment[]): Media {
  const collected = new Map<string, Attachment>();
  const attachments = (): readonly Attachment[] => (collected.size === 0 ? given : [...given, ...collected.values()]);
  const nameFor = (kind: string): string => {
    const names = new Set(attachments().map(({ name }) => name));
    for (let n = 1; ; n++) if (!names.has(`${kind}-${n}`)) return `${kind}-${n}`;
  };
  const referenceTo = (base64: string, type: string): string | null => {
    const known = collected.get(base64);
    if (known !== undefined) return MEDIA_REFERENCE + known.name; // media.2
    if (given.length + collected.size >= ATTACHMENTS_MAX) return null; // media.3
    const kind = /^(image|audio|video)\//.exec(type)?.[1] ?? "file";
    const name = nameFor(kind);
    collected.set(base64, { name, mimeType: type, bytes: Buffer.from(base64, "base64") });
    return MEDIA_REFERENCE + name;
  };
  return {
    take(given) {
      if (given.length < RUN_CHARS_MIN) return given;
      const text = given.includes("Buffer") ? given.replaceAll(BUFFER, encodeBytes) : given;
      const pieces: string[] = [];
      let kept = 0;
      /** Ends of the last content, when it was in a list. */
      let listedUntil = -1;
      for (const { start, end } of base64Runs(text)) {
        const isNext =
          listedUntil >= 0 && start - listedUntil <= MEMBER_CHARS_MAX && NEXT_ITEM.test(text.slice(listedUntil, start));
        const content = isNext ? itemAt(text, start, end) : contentAt(text, start, end);
        listedUntil = content?.isListed === true ? end : -1;
        const reference = content === null ? null : referenceTo(content.base64, content.type);
        if (content === null || reference === null) continue;
        pieces.push(text.slice(kept, content.start), reference);
        kept = end;
      }
      if (kept === 0) return text;
      pieces.push(text.slice(kept));
      return pieces.join(""); // a flat copy: concatenated slices would keep the whole text in memory
    },
    attachments,
  };
}

interface Content {
  /** Start of the text to replace. */
  readonly start: number;
  readonly base64: string;
  readonly type: string;
  /** The item of a list: another one may follow. */
  readonly isListed: boolean;
}

/** media.1. */
function contentAt(text: string, start: number, end: number): Content | null {
  const url = DATA_URL.exec(text.slice(Math.max(0, start - DATA_URL_CHARS_MAX), start));
  const base64 = unescaped(text.slice(start, end));
  if (url !== null) {
    const said = url[1] === undefined ? UNKNOWN : `${url[1]}/${url[2]}`.toLowerCase();
    const type = said === UNKNOWN ? (mediaType("", base64) ?? UNKNOWN) : said;
    return { start: start - url[0].length, base64, type, isListed: false };
  }
  const member = MEMBER.exec(text.slice(Math.max(0, start - MEMBER_CHARS_MAX), start));
  if (member === null || !text.startsWith(`${member[1]}"`, end)) return null;
  const type = mediaType(partAround(text, start, end), base64);
  return type === null ? null : { start, base64, type, isListed: member[2] !== undefined };
}

/** A further item of a list. */
function itemAt(text: string, start: number, end: number): Content | null {
  const base64 = unescaped(text.slice(start, end));
  const type = mediaType("", base64);
  return type === null ? null : { start, base64, type, isListed: true };
}

/**
 * The members beside the content, in its own object only: a signature is no image because its neighbour is one. Bedrock
 * names the format beside the object with the content.
 */
function partAround(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - PART_CHARS_MAX), start);
  const after = text.slice(end, end + PART_CHARS_MAX);
  const from = braceBefore(before, before.length);
  const isSource = SOURCE.test(before.slice(0, from + 1));
  const to = after.search(/[{}]/);
  const own = before.slice(from + 1) + (to === -1 ? after : after.slice(0, to));
  if (!isSource) return own;
  const behind = after.slice(to + 1);
  return `${own},${before.slice(braceBefore(before, from) + 1, from)},${behind.slice(0, Math.max(0, behind.search(/[{}]/)))}`;
}

const SOURCE = /"source\\*"\s*:\s*\{$/;

function braceBefore(text: string, end: number): number {
  const head = text.slice(0, end);
  return Math.max(head.lastIndexOf("{"), head.lastIndexOf("}"));
}
