// Unplaced run: the memory and the fingerprint of a run that waits for its place.
import type { UnplacedRun } from "../shared/trace-run.ts";

export function estimateSize(run: UnplacedRun): number {
  return WAITING_OVERHEAD + BYTES_A_CHARACTER * (run.content?.size ?? 0);
}

/** Memory of a waiting span besides its text: measured at 1,200 to 1,500 bytes with its node. */
const WAITING_OVERHEAD = 1280;
/** One for Latin text and one for its source strings; two for all other text. */
const BYTES_A_CHARACTER = 2;

/** Distinguishes a re-sent span from a changed one. Lengths and times suffice: a change moves the end or the text. */
export function fingerprint(run: UnplacedRun): number {
  const content = run.content;
  if (content === null) return 0;
  let print = content.size;
  for (const part of [content.inputs, content.outputs, content.extra, content.events, content.error, content.name])
    print = (Math.imul(print, 31) + part.length) | 0;
  for (let at = 17; at < content.endTime.length; at++)
    print = (Math.imul(print, 31) + content.endTime.charCodeAt(at)) | 0;
  return print;
}
