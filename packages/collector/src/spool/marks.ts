// Marks: a small file beside each segment that lists its done records. Segments themselves never change.
// Invariants:
//   - Marks reach the file at once and survive a crash of the process. `settle()` makes all marks survive a
//     power cut.
//   - A failed write of a mark is retried. A lost mark costs a repeated upload, never a span.
//   marks.3. `forget()` closes the segment's file for good, even during a write.
//   - The mark of a span that a batch took over names the batch: the next start ignores it if the batch is gone
//     (recover-marks.ts).
import type { FilePort, SpoolFile } from "./disk/file-port.ts";
import { segmentName } from "./append-log.ts";
import { encodePlainRecord, RECORD, type SpoolRecord } from "./record.ts";

/** A batch on disk, as the marks of its spans name it. */
export interface CoveringBatch {
  readonly segment: number;
  readonly offset: number;
  readonly runs: number;
  /** Spans and log records in its runs. */
  readonly items: number;
}

/** `offset` of a record in the segment; its done parts (spans of a request, runs of a batch). */
export interface Mark {
  readonly offset: number;
  /** Flattened ranges: first, count, first, count, … */
  readonly ranges: readonly number[];
  /** Null: the parts need nothing else. */
  readonly batch: CoveringBatch | null;
}

/** The marks of a batch do not count, whatever becomes of its segment. */
export interface VoidedBatch {
  readonly segment: number;
  readonly offset: number;
  /** First segment of the process that voided it. */
  readonly since: number;
}

export interface Marks {
  readonly add: (segment: number, mark: Mark) => void;
  /** Voids the marks that the batch set in the segment. */
  readonly void: (segment: number, batch: VoidedBatch) => void;
  /** Resolves when all marks are on disk; rejects when the disk refuses them now. */
  readonly settle: () => Promise<void>;
  readonly forget: (segment: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface MarksFile {
  pending: Mark[];
  voided: VoidedBatch[];
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
  function change(segment: number, apply: (one: MarksFile) => void): void {
    let one = bySegment.get(segment);
    if (one === undefined) bySegment.set(segment, (one = { pending: [], voided: [], file: null, dirty: false }));
    apply(one);
    kick(state).catch(() => undefined); // the next mark retries
  }

  return {
    add: (segment, mark) => change(segment, (one) => one.pending.push(mark)),
    void: (segment, batch) => change(segment, (one) => one.voided.push(batch)),
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
    for (const [segment, one] of bySegment) if (isPending(one)) await write(state, segment, one);
  await closeOldFiles(bySegment);
}

function hasPending({ bySegment }: MarksState): boolean {
  for (const one of bySegment.values()) if (isPending(one)) return true;
  return false;
}

function isPending({ pending, voided }: MarksFile): boolean {
  return pending.length > 0 || voided.length > 0;
}

async function write(state: MarksState, segment: number, one: MarksFile): Promise<void> {
  const { pending: marks, voided } = one;
  one.pending = [];
  one.voided = [];
  try {
    one.file ??= await openFile(state, segment);
    await one.file.write([encodePlainRecord(RECORD.marks, buildHeader(marks, voided))[0]]);
    one.dirty = true;
  } catch (error) {
    one.pending = [...marks, ...one.pending];
    one.voided = [...voided, ...one.voided];
    await closeFile(one);
    throw error;
  }
}

/** `marks`: `[offset, first, count, …]` each; `by`: for each mark the index of its batch in `batches`, or -1. */
function buildHeader(marks: readonly Mark[], voided: readonly VoidedBatch[]): object {
  const batches: CoveringBatch[] = [];
  const by = marks.map(({ batch }) => {
    if (batch === null) return -1;
    if (batches.at(-1) !== batch) batches.push(batch);
    return batches.length - 1;
  });
  return {
    marks: marks.map(({ offset, ranges }) => [offset, ...ranges]),
    ...(batches.length > 0 && { by, batches: batches.map((one) => [one.segment, one.offset, one.runs, one.items]) }),
    ...(voided.length > 0 && { voided: voided.map((one) => [one.segment, one.offset, one.since]) }),
  };
}

/** One record of a marks file. */
export function readMarks({ header }: SpoolRecord): {
  readonly marks: readonly Mark[];
  readonly voided: readonly VoidedBatch[];
} {
  const readList = (name: string): readonly number[][] => (header[name] ?? []) as number[][];
  const by = (header["by"] ?? []) as readonly number[];
  const batches = readList("batches").map(([segment = 0, offset = 0, runs = 0, items = 0]): CoveringBatch => ({
    segment,
    offset,
    runs,
    items,
  }));
  return {
    marks: readList("marks").map(([offset = 0, ...ranges], index) => ({
      offset,
      ranges,
      batch: batches[by[index] ?? -1] ?? null,
    })),
    voided: readList("voided").map(([segment = 0, offset = 0, since = 0]) => ({ segment, offset, since })),
  };
}

export function listIndexes({ ranges }: Mark): number[] {
  const indexes: number[] = [];
  for (let at = 0; at + 1 < ranges.length; at += 2)
    for (let index = 0; index < (ranges[at + 1] ?? 0); index++) indexes.push((ranges[at] ?? 0) + index);
  return indexes;
}

function openFile({ dir, files }: MarksState, segment: number): Promise<SpoolFile> {
  return files.openToAppend(`${dir}/${segmentName(segment, MARKS_SUFFIX)}`);
}

/** A file that closes before its sync stays dirty: settle() opens it again. */
async function closeOldFiles(bySegment: MarksState["bySegment"]): Promise<void> {
  const open = [...bySegment.values()].filter((one) => one.file !== null && !isPending(one));
  for (const one of open.slice(0, Math.max(0, open.length - OPEN_FILES_MAX))) await closeFile(one);
}

async function closeFile(one: MarksFile): Promise<void> {
  const { file } = one;
  one.file = null;
  await file?.close().catch(() => undefined);
}
