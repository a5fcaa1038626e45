// Read record: one record of a segment whose place is known.
import type { FilePort } from "./disk/file-port.ts";
import { frameLength, readRecord, type SpoolRecord } from "./record.ts";

/** null: the record is damaged. Rejects when the file is missing or unreadable. */
export async function readRecordAt(
  path: string,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
  files: Pick<FilePort, "openToRead">,
): Promise<SpoolRecord | null> {
  const file = await files.openToRead(path);
  try {
    const frame = await file.read(offset, bytes);
    return frameLength(frame) === bytes ? readRecord(frame, 0) : null;
  } finally {
    await file.close();
  }
}
