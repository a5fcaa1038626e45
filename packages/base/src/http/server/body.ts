// Body: the bytes of a request, with a size limit, → text and JSON.
// Invariants:
//   - Memory never holds more than `bytesMax`, whatever the headers declare.
//   - Invalid UTF-8, invalid JSON, nesting deeper than DEPTH_MAX, and in a long body an object with more than
//     MEMBERS_MAX members are errors.
//   - Only application/json counts as JSON: a form or plain-text post from another site is rejected.
//   body.5. After the refusal of a body, the server reads on and discards up to DISCARD_BYTES_MAX: a client that is cut
//        off while it writes sees a broken connection instead of the reply.
//   - The shape of a long body is checked before the engine reads it.
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../api-error.ts";
import { fitsDepth } from "../../json/json.ts";

export const DEPTH_MAX = 500;
const MEMBERS_MAX = 100_000;
const LONG_UNITS = 1024 * 1024;
const DISCARD_BYTES_MAX = 256 * 1024 * 1024;

export interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

/**
 * An empty body yields undefined. @throws {ApiError} `unsupported_media_type`, `body_too_large`, `malformed_json`,
 * `body_too_deep`, `body_too_wide`
 */
export async function readJsonBody(incoming: IncomingMessage, bytesMax: number): Promise<JsonBody> {
  const bytes = await readBytes(incoming, bytesMax);
  if (bytes.length === 0) return { value: undefined, text: "" };
  checkMediaType(incoming.headers["content-type"]);
  const encoding = incoming.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw new ApiError("unsupported_media_type", `Content-Encoding ${encoding} is not supported.`);
  return parseBody(() => {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (bytes.length > LONG_UNITS) (bytes.buffer as ArrayBuffer).transfer(0); // frees it now, and not in minutes
    return text;
  });
}

const FORM = "application/x-www-form-urlencoded";
const FORM_BYTES_MAX = 1024 * 1024;

/** The text of a form, as it was sent. @throws {ApiError} `unsupported_media_type`, `body_too_large` */
export async function readForm(incoming: IncomingMessage, bytesMax: number): Promise<string> {
  const type = parseMediaType(incoming.headers["content-type"]);
  if (type !== FORM) throw new ApiError("unsupported_media_type", `Content-Type must be ${FORM}.`);
  return (await readBytes(incoming, Math.min(bytesMax, FORM_BYTES_MAX))).toString("latin1");
}

/** For a body that the deployment's own middleware has read. @throws {ApiError} as {@link readJsonBody} */
export async function parseJsonBody(text: string, mediaType: string | undefined, bytesMax: number): Promise<JsonBody> {
  if (text.length > bytesMax) throw tooLarge(bytesMax, {});
  if (text === "") return { value: undefined, text };
  checkMediaType(mediaType);
  return parseBody(() => text);
}

/** The refusal of a body over its limit; takes care of the bytes that are still to come (body.5). */
export function refuseBody(incoming: IncomingMessage, bytesMax: number): ApiError {
  incoming.removeAllListeners("data");
  if (Number(incoming.headers["content-length"] ?? 0) > DISCARD_BYTES_MAX) {
    incoming.pause();
    return tooLarge(bytesMax, { Connection: "close" });
  }
  let bytes = 0;
  incoming.on("error", () => undefined);
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES_MAX) incoming.destroy();
  });
  incoming.resume();
  return tooLarge(bytesMax, {});
}

function tooLarge(bytesMax: number, headers: Readonly<Record<string, string>>): ApiError {
  return new ApiError("body_too_large", `The limit of this call is ${bytesMax} bytes.`, {}, headers);
}

function parseBody(read: () => string): JsonBody {
  let text: string;
  let value: unknown;
  try {
    text = read();
    checkShape(text);
    value = JSON.parse(text);
    if (text.length <= LONG_UNITS && !fitsDepth(value, DEPTH_MAX)) throw tooDeep();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("malformed_json", error instanceof Error ? error.message : "The body is unreadable.");
  }
  return { value, text };
}

function checkShape(text: string): void {
  const fault = text.length > LONG_UNITS ? findShapeFault(text, DEPTH_MAX, MEMBERS_MAX) : null;
  if (fault === "too_deep") throw tooDeep();
  if (fault === "too_wide")
    throw new ApiError("body_too_wide", `An object of the body has more than ${MEMBERS_MAX} members.`);
}

function tooDeep(): ApiError {
  return new ApiError("body_too_deep", `The body nests more than ${DEPTH_MAX} levels.`);
}

function checkMediaType(header: string | undefined): void {
  const type = parseMediaType(header);
  if (type === "application/json") return;
  throw new ApiError(
    "unsupported_media_type",
    `Content-Type ${type === "" ? "is missing" : `"${type}" is not supported`}.`,
  );
}

function parseMediaType(header: string | undefined): string {
  return (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function readBytes(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (): void => reject(refuseBody(incoming, bytesMax));
    if (incoming.destroyed)
      return reject(new ApiError("malformed_request", "The connection closed before the end of the body."));
    if (Number(incoming.headers["content-length"] ?? 0) > bytesMax) return refuse();
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) return refuse();
      chunks.push(chunk);
    });
    incoming.on("end", () =>
      resolve(chunks.length === 1 && size <= LONG_UNITS ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks, size)),
    );
    incoming.on("error", reject);
    incoming.on("close", () => {
      if (!incoming.readableEnded)
        reject(new ApiError("malformed_request", "The connection closed before the end of the body."));
    });
  });
}

/**
 * The nesting of a JSON text and the members of its objects, in one pass, before the engine reads it. The engine needs
 * seconds for an object with millions of members and for millions of levels.
 */
type ShapeFault = "too_deep" | "too_wide";

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
