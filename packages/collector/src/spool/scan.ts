// Scan: finds the intact records of a spool file, regardless of damage between them. Pure.
// Invariants:
//   - In a sealed file the search for the next record after a damaged frame cannot end inside a body.
//   - A record longer than the file is the torn end of the file. The scan stops there, because the rest is content of
//     that record.
//   - Among marks, whose frames prove nothing, the scan skips content only when a record or the end follows it.
import type { Keyring } from "@holdpoint/base/keyring.ts";
import { createOpener } from "./encrypted-record.ts";
import {
  PLAIN_FRAMES,
  readFileHead,
  sealedFrames,
  SPOOL_FORMAT,
  type FileHead,
  type Frames,
  type SpoolRecord,
  SpoolVersionError,
} from "./record.ts";

export interface Scan {
  readonly records: SpoolRecord[];
  /** Damaged ranges between intact records: never the result of a crash. */
  readonly badStretches: number;
  /** Bytes after the last intact record: a possible result of a crash. */
  readonly tornBytes: number;
}

/**
 * A sealed file. Without its head none of its records can be told from bytes of senders.
 * @throws {SpoolVersionError}
 */
export function scanFile(
  file: Buffer,
  at: { readonly path: string; readonly segment: number },
  ring: Keyring | null,
): Scan {
  const head = readHead(file, at.path);
  if (head === null || head.salt === null) return { records: [], badStretches: 0, tornBytes: file.length };
  const seal = { segment: at.segment, salt: head.salt };
  const found = scan(file, head.bytes, sealedFrames(seal, createOpener(seal, ring)), true);
  return head.damaged ? { ...found, badStretches: found.badStretches + 1 } : found;
}

/** @throws {SpoolVersionError} */
export function scanMarks(file: Buffer, path: string): Scan {
  readHead(file, path);
  return scan(file, 0, PLAIN_FRAMES, false);
}

function readHead(file: Buffer, path: string): FileHead | null {
  const head = readFileHead(file);
  if (head !== null && !(head.format <= SPOOL_FORMAT)) throw new SpoolVersionError(path, head.format);
  return head;
}

function scan(file: Buffer, from: number, frames: Frames, isSealed: boolean): Scan {
  const records: SpoolRecord[] = [];
  let badStretches = 0;
  let damagedSince = -1;
  for (let at = from; at < file.length;) {
    const bytes = file.subarray(at, at + frames.magic.length).equals(frames.magic) ? frames.lengthAt(file, at) : null;
    const record = bytes === null ? null : frames.readAt(file, at, bytes);
    if (record !== null) {
      if (damagedSince >= 0) badStretches++;
      damagedSince = -1;
      records.push(record);
      at += record.bytes;
      continue;
    }
    if (damagedSince < 0) damagedSince = at;
    const end = at + (bytes ?? 0);
    if (bytes !== null && end > file.length) break;
    const isFollowed = end === file.length || file.subarray(end, end + frames.magic.length).equals(frames.magic);
    const next = bytes !== null && (isSealed || isFollowed) ? end : file.indexOf(frames.magic, at + 1);
    if (next < 0) break;
    at = next;
  }
  return { records, badStretches, tornBytes: damagedSince < 0 ? 0 : file.length - damagedSince };
}
