// Media type: what the bytes of a message part are, by the part's own words or by their first bytes.
import { FORMATS } from "./media-formats.ts";

/** Also office documents, which a format tells apart. */
const ZIP = "application/zip";

/** First bytes in hex, "." for any digit. */
const SIGNATURES: readonly (readonly [signature: RegExp, type: string])[] = [
  [/^89504e470d0a1a0a/, "image/png"],
  [/^ffd8ff/, "image/jpeg"],
  [/^474946383[79]61/, "image/gif"],
  [/^52494646.{8}57454250/, "image/webp"],
  [/^52494646.{8}57415645/, "audio/wav"],
  [/^52494646.{8}41564920/, "video/x-msvideo"],
  [/^(49492a00|4d4d002a)/, "image/tiff"],
  [/^.{8}66747970(61766966|61766973)/, "image/avif"],
  [/^.{8}66747970(68656963|68656978|6d696631)/, "image/heic"],
  [/^.{8}667479704d3441/, "audio/mp4"],
  [/^.{8}66747970/, "video/mp4"],
  [/^1a45dfa3/, "video/webm"],
  [/^(494433|fff[b3a2])/, "audio/mpeg"],
  [/^fff[19]/, "audio/aac"],
  [/^2321414d52/, "audio/amr"],
  [/^4f676753/, "audio/ogg"],
  [/^664c6143/, "audio/flac"],
  [/^25504446/, "application/pdf"],
  [/^504b0304/, ZIP],
];
const SIGNATURE_CHARS = 24;

const TYPE_MEMBER = /"(?:mime|media|content)_?type\\*"\s*:\s*\\*"([\w.+-]+)\\*\/([\w.+-]+)/i;
const FORMAT_MEMBER = /"format\\*"\s*:\s*\\*"(\w+)/i;
/** Sound without a signature is samples. */
const AUDIO_MEMBER = /"(?:type|modality|block_type)\\*"\s*:\s*\\*"(?:input_)?audio\\*"/;
const UNKNOWN = "application/octet-stream";

/** @param members text of the part around the content @returns null if neither says anything */
export function mediaType(members: string, base64: string): string | null {
  const [, kind, subtype] = TYPE_MEMBER.exec(members) ?? [];
  const declared = kind === undefined ? undefined : `${kind}/${subtype}`.toLowerCase();
  if (declared !== undefined && declared !== UNKNOWN) return declared;
  const head = Buffer.from(base64.slice(0, SIGNATURE_CHARS), "base64").toString("hex");
  const found = SIGNATURES.find(([signature]) => signature.test(head));
  if (found !== undefined && found[1] !== ZIP) return found[1];
  const format = FORMAT_MEMBER.exec(members)?.[1]?.toLowerCase() ?? "";
  if (Object.hasOwn(FORMATS, format)) return FORMATS[format] ?? null;
  return found?.[1] ?? (AUDIO_MEMBER.test(members) ? "audio/pcm" : declared) ?? null;
}
