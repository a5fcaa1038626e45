// Read record: one record of a segment whose place is known.
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { FilePort } from "./disk/file-port.ts";
import { createOpener } from "./encrypted-record.ts";
import { FILE_HEAD_BYTES_MAX, frameLength, readFileHead, readRecord, type SpoolRecord } from "./record.ts";

export interface RecordAt {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
}

export interface ReadPorts {
  readonly files: Pick<FilePort, "openToRead">;
  readonly ring: Keyring | null;
}

/** null: the record is damaged. Rejects when the file is missing or unreadable. */
export async function readRecordAt(
  path: string,
  { segment, offset, bytes }: RecordAt,
  { files, ring }: ReadPorts,
): Promise<SpoolRecord | null> {
  const file = await files.openToRead(path);
  try {
    const frame = await file.read(offset, bytes);
    if (frameLength(frame) !== bytes) return null;
    const salt = readFileHead(await file.read(0, FILE_HEAD_BYTES_MAX))?.salt ?? null;
    const open = createOpener({ segment, salt: salt ?? "" }, ring);
    return readRecord(frame, 0, (content) => open(content, offset));
  } finally {
    await file.close();
  }
}
