// Attachments: files in an attribute of the backend's SDK, as JSON with base64 content.
// Invariants:
//   - A name has no "." (the backend's part names use it) and nothing that could end a header line.
//   - Translation omits an unreadable entry; the run stays.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { textMember } from "../attributes/indexed.ts";
import { sources } from "../attributes/known-keys.ts";
import { isObject, toJson } from "../attributes/plain-values.ts";
import { ATTACHMENTS_MAX } from "../../shared/attachment-reference.ts";
import type { Attachment } from "../../shared/trace-run.ts";

const ATTACHMENTS = sources("langsmith.attachments");
const NAME_CHARS_MAX = 128;
const NONE: readonly Attachment[] = [];

export function readAttachments(facts: Facts): readonly Attachment[] {
  if (!facts.has(ATTACHMENTS)) return NONE;
  const mark = facts.mark();
  const list = toJson(facts.value(ATTACHMENTS));
  if (!Array.isArray(list)) {
    facts.release(mark);
    return NONE;
  }
  const used = new Set<string>();
  const attachments = (list as readonly Json[]).slice(0, ATTACHMENTS_MAX).flatMap((item) => {
    const content = textMember(item, "content") || textMember(item, "data");
    const name = partName(textMember(item, "name"), used);
    if (!isObject(item) || content === "" || !/^[A-Za-z0-9+/_=\s-]+$/.test(content)) return [];
    used.add(name);
    const mime = textMember(item, "mime_type");
    const mimeType = /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : "application/octet-stream";
    return [{ name, mimeType, bytes: Buffer.from(content, "base64") }];
  });
  if (attachments.length < list.length) facts.release(mark); // the attribute stays, in the metadata
  return attachments;
}

function partName(given: string, used: ReadonlySet<string>): string {
  const safe = given.replaceAll(/[^\w \-()]/g, "_").slice(0, NAME_CHARS_MAX) || "attachment";
  for (let n = 2, name = safe; ; name = `${safe}_${n++}`) if (!used.has(name)) return name;
}
