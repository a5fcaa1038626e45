// Marks: a small file beside each segment that lists its done records. Segments themselves never change.
// Invariants:
//   marks.1. A mark is written at once and survives a crash of the process. `settle()` makes all marks survive a power
//        cut.
//   marks.2. A failed write of a mark is retried. A lost mark costs a repeated upload, never a span.
//   marks.3. After `forget()` the segment's file is closed and stays closed, even when a write was in progress.
import type { FilePort, SpoolFile } from "./file-port.ts";
import { segmentName } from "./append-log.ts";
import { encodePlainRecord, RECORD } from "./record.ts";

/** `offset` of a record in the segment; its done parts (spans of a request, runs of a batch). */
interface Mark {
  readonly offset: number;
  /** Flattened ranges: first, count, first, count, … */
  readonly ranges: readonly number[];
}

export interface Marks {
  readonly add: (segment: number, mark: Mark) => void;
  /** Resolves when all marks are on disk; rejects when the disk refuses them now. */
  readonly settle: () => Promise<void>;
  readonly forget: (segment: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface MarksFile {
  pending: Mark[];
  file: SpoolFile | null;
  dirty: boolean;
}

export const MARKS_SUFFIX = "marks";
const OPEN_FILES_MAX = 32;

export function createMarks(dir: string, files: FilePort): Marks {
  const bySegment = new Map<number, MarksFile>();
  let writing: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    while (hasPending()) for (const [segment, one] of bySegment) if (one.pending.length > 0) await write(segment, one);
    await closeOldFiles();
  }

  function hasPending(): boolean {
    for (const one of bySegment.values()) if (one.pending.length > 0) return true;
    return false;
  }

  async function write(segment: number, one: MarksFile): Promise<void> {
    const marks = one.pending;
    one.pending = [];
    try {
      one.file ??= await files.openToAppend(`${dir}/${segmentName(segment, MARKS_SUFFIX)}`);
      const header = { marks: marks.map(({ offset, ranges }) => [offset, ...ranges]) };
      await one.file.write([encodePlainRecord(RECORD.marks, header)[0]]);
      one.dirty = true;
    } catch (error) {
      one.pending = [...marks, ...one.pending]; // marks.2
      await closeFile(one);
      throw error;
    }
  }

  /** A file that is closed before its sync stays dirty: settle() opens it again. */
  async function closeOldFiles(): Promise<void> {
    const open = [...bySegment.values()].filter((one) => one.file !== null && one.pending.length === 0);
    for (const one of open.slice(0, Math.max(0, open.length - OPEN_FILES_MAX))) await closeFile(one);
  }

  async function closeFile(one: MarksFile): Promise<void> {
    const { file } = one;
    one.file = null;
    await file?.close().catch(() => undefined);
  }

  function kick(): Promise<void> {
    writing ??= Promise.resolve()
      .then(writeAll)
      .finally(() => {
        writing = null;
      });
    return writing;
  }

  async function flush(): Promise<void> {
    while (hasPending()) await kick();
    if (writing !== null) await writing;
  }

  return {
    add(segment, mark) {
      let one = bySegment.get(segment);
      if (one === undefined) bySegment.set(segment, (one = { pending: [], file: null, dirty: false }));
      one.pending.push(mark);
      kick().catch(() => undefined); // marks.2: the next mark retries
    },
    async settle() {
      await flush();
      for (const [segment, one] of bySegment) {
        if (!one.dirty) continue;
        one.file ??= await files.openToAppend(`${dir}/${segmentName(segment, MARKS_SUFFIX)}`);
        await one.file.sync();
        one.dirty = false;
      }
    },
    async forget(segment) {
      const one = bySegment.get(segment);
      bySegment.delete(segment);
      await writing?.catch(() => undefined); // marks.3
      if (one !== undefined) await closeFile(one);
    },
    async close() {
      await flush().catch(() => undefined);
      for (const one of bySegment.values()) await closeFile(one);
    },
  };
}
