// Marks: a small file beside each segment that lists its done records. Segments themselves never change.
// Invariants:
//   marks.1. Marks reach the file at once and survive a crash of the process. `settle()` makes all marks survive a
//        power cut.
//   marks.2. A failed write of a mark is retried. A lost mark costs a repeated upload, never a span.
//   marks.3. `forget()` closes the segment's file for good, even during a write.
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

interface MarksState {
  readonly dir: string;
  readonly files: FilePort;
  readonly bySegment: Map<number, MarksFile>;
  writing: Promise<void> | null;
}

export function createMarks(dir: string, files: FilePort): Marks {
  const bySegment = new Map<number, MarksFile>();
  const state: MarksState = { dir, files, bySegment, writing: null };
  return {
    add(segment, mark) {
      let one = bySegment.get(segment);
      if (one === undefined) bySegment.set(segment, (one = { pending: [], file: null, dirty: false }));
      one.pending.push(mark);
      kick(state).catch(() => undefined); // marks.2: the next mark retries
    },
    async settle() {
      await flush(state);
      for (const [segment, one] of bySegment) {
        if (!one.dirty) continue;
        one.file ??= await openFile(state, segment);
        await one.file.sync();
        one.dirty = false;
      }
    },
    async forget(segment) {
      const one = bySegment.get(segment);
      bySegment.delete(segment);
      await state.writing?.catch(() => undefined); // marks.3
      if (one !== undefined) await closeFile(one);
    },
    async close() {
      await flush(state).catch(() => undefined);
      for (const one of bySegment.values()) await closeFile(one);
    },
  };
}

function kick(state: MarksState): Promise<void> {
  state.writing ??= Promise.resolve()
    .then(() => writeAll(state))
    .finally(() => {
      state.writing = null;
    });
  return state.writing;
}

async function flush(state: MarksState): Promise<void> {
  while (hasPending(state)) await kick(state);
  if (state.writing !== null) await state.writing;
}

async function writeAll(state: MarksState): Promise<void> {
  const { bySegment } = state;
  while (hasPending(state))
    for (const [segment, one] of bySegment) if (one.pending.length > 0) await write(state, segment, one);
  await closeOldFiles(bySegment);
}

function hasPending({ bySegment }: MarksState): boolean {
  for (const one of bySegment.values()) if (one.pending.length > 0) return true;
  return false;
}

async function write(state: MarksState, segment: number, one: MarksFile): Promise<void> {
  const marks = one.pending;
  one.pending = [];
  try {
    one.file ??= await openFile(state, segment);
    const header = { marks: marks.map(({ offset, ranges }) => [offset, ...ranges]) };
    await one.file.write([encodePlainRecord(RECORD.marks, header)[0]]);
    one.dirty = true;
  } catch (error) {
    one.pending = [...marks, ...one.pending]; // marks.2
    await closeFile(one);
    throw error;
  }
}

function openFile({ dir, files }: MarksState, segment: number): Promise<SpoolFile> {
  return files.openToAppend(`${dir}/${segmentName(segment, MARKS_SUFFIX)}`);
}

/** A file that closes before its sync stays dirty: settle() opens it again. */
async function closeOldFiles(bySegment: MarksState["bySegment"]): Promise<void> {
  const open = [...bySegment.values()].filter((one) => one.file !== null && one.pending.length === 0);
  for (const one of open.slice(0, Math.max(0, open.length - OPEN_FILES_MAX))) await closeFile(one);
}

async function closeFile(one: MarksFile): Promise<void> {
  const { file } = one;
  one.file = null;
  await file?.close().catch(() => undefined);
}
