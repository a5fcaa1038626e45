// Multipart: the body of an upload → its parts. It accepts the forms of the API's senders: a length as the part's
// Content-Length line, as a `length` parameter of its Content-Type, or none.
// Invariants:
//   traces/multipart.1. A part with a length ends exactly there, whatever its bytes; one without ends at the next
//        boundary.
//   traces/multipart.2. A part is a view of the body, without a copy.
import { UploadError, type Part } from "./run-change.ts";

const PARTS_MAX = 100_000;
const HEAD_BYTES_MAX = 16 * 1024;
const BLANK_LINE = Buffer.from("\r\n\r\n");

/** @returns the boundary of a `multipart/form-data` content type, or null for any other */
export function parseBoundary(contentType: string | undefined): string | null {
  const found = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? "");
  return found?.[1] ?? found?.[2] ?? null;
}

/** @throws {UploadError} if the body is not valid multipart */
export function* toParts(body: Buffer, boundary: string): Generator<Part> {
  const delimiter = Buffer.from(`--${boundary}`);
  const next = Buffer.from(`\r\n--${boundary}`);
  let at = body.indexOf(delimiter);
  if (at < 0) throw new UploadError("the body does not contain its boundary");
  for (let count = 0; ; count++) {
    at += delimiter.length;
    if (body[at] === 0x2d && body[at + 1] === 0x2d) return; // "--" closes
    if (count >= PARTS_MAX) throw new UploadError(`more than ${PARTS_MAX} parts in one upload`);
    const headEnd = body.indexOf(BLANK_LINE, at);
    if (headEnd < 0 || headEnd - at > HEAD_BYTES_MAX) throw new UploadError("a part has no head");
    const head = parseHead(body.toString("utf8", at, headEnd));
    const from = headEnd + BLANK_LINE.length;
    const to = head.length === null ? body.indexOf(next, from) : from + head.length; // traces/multipart.1
    if (to < 0 || to > body.length || body.indexOf(next, to) !== to)
      throw new UploadError(`the part ${head.name} does not end in a boundary`);
    yield { name: head.name, type: head.type, bytes: body.subarray(from, to) }; // traces/multipart.2
    at = to + 2;
  }
}

function parseHead(text: string): { readonly name: string; readonly type: string; readonly length: number | null } {
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, "im").exec(text)?.[1]?.trim() ?? "";
  const name = /\bname="([^"]*)"/.exec(field("content-disposition"))?.[1];
  if (name === undefined) throw new UploadError("a part has no name");
  const [type = "", ...parameters] = field("content-type").split(";");
  const given = field("content-length") || (/\blength=(\d+)/.exec(parameters.join(";"))?.[1] ?? "");
  if (given !== "" && !/^\d{1,12}$/.test(given)) throw new UploadError(`the part ${name} has no valid length`);
  return { name, type: type.trim(), length: given === "" ? null : Number(given) };
}
