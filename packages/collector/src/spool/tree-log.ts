// Tree log: the place of each run, kept while late spans of its trace may arrive. A separate log, because places
// outlive their batches.
// Invariants:
//   - Decisions stay in the order in which assembly made them.
//   - At most `treeRunsKept` runs, none older than `treeAgeMs`, to within one segment.
import type { Decision } from "../assemble/assemble.ts";
import type { TraceRunPlace } from "../shared/trace-run.ts";
import { type AppendLogPorts, createAppendLog, segmentName } from "./append-log.ts";
import type { PlaceLines } from "./port.ts";
import type { SegmentGuard } from "./segment-guard.ts";
import { encodeRecord, RECORD, type SpoolRecord } from "./record.ts";

export const TREES_SUFFIX = "trees";

export interface TreeSegment {
  readonly segment: number;
  runs: number;
  bytes: number;
  newestMs: number;
}

export interface TreeLog {
  /** Runs whose places are in the segment. */
  readonly runsIn: (segment: number) => number;
  readonly append: (tenant: string, places: PlaceLines) => Promise<void>;
  readonly bytes: () => number;
  readonly close: () => Promise<void>;
}

export interface TreeLogOptions {
  readonly dir: string;
  readonly firstSegment: number;
  readonly treeSegmentBytesMax: number;
  readonly treeRunsKept: number;
  readonly treeAgeMs: number;
  readonly old: readonly TreeSegment[];
  readonly guard: Pick<SegmentGuard, "note" | "isOwn" | "forget">;
}

export function createTreeLog(options: TreeLogOptions, ports: AppendLogPorts): TreeLog {
  const { files, clock } = ports;
  const segments: TreeSegment[] = [...options.old];
  let removing: Promise<void> = Promise.resolve();
  const log = createAppendLog(
    {
      dir: options.dir,
      suffix: TREES_SUFFIX,
      firstSegment: options.firstSegment,
      segmentBytesMax: options.treeSegmentBytesMax,
      preamble: () => [],
      onSegment(segment) {
        segments.push({ segment, runs: 0, bytes: 0, newestMs: clock.now() });
        void options.guard.note(segment);
        removing = removing.then(removeOld);
      },
      onFailure: () => undefined,
    },
    ports,
  );

  /** Removes the oldest segments first, which leaves no gap. */
  async function removeOld(): Promise<void> {
    let runs = segments.reduce((sum, one) => sum + one.runs, 0);
    for (let first = segments[0]; first !== undefined && segments.length > 1; first = segments[0]) {
      const tooMany = runs - first.runs >= options.treeRunsKept;
      if (!tooMany && clock.now() - first.newestMs <= options.treeAgeMs) return;
      segments.shift();
      runs -= first.runs;
      const path = `${options.dir}/${segmentName(first.segment, TREES_SUFFIX)}`;
      if (await options.guard.isOwn(first.segment)) await files.unlink(path).catch(() => undefined);
      options.guard.forget(first.segment);
    }
  }

  return {
    async append(tenant, places) {
      const header = { tenant, runs: places.runs, at: clock.now() };
      const ref = await log.append(encodeRecord(RECORD.decisions, header, Buffer.from(places.text, "latin1")));
      const segment = segments.find((one) => one.segment === ref.segment);
      if (segment === undefined) return;
      segment.runs += places.runs;
      segment.bytes = ref.offset + ref.bytes;
      segment.newestMs = clock.now();
    },
    runsIn: (segment) => segments.find((one) => one.segment === segment)?.runs ?? 0,
    bytes: () => segments.reduce((sum, one) => sum + one.bytes, 0),
    async close() {
      await removing;
      await log.close();
    },
  };
}

export function placeLines(places: readonly Omit<TraceRunPlace, "id">[]): PlaceLines {
  let text = "";
  for (const { traceId, spanId, dottedOrder, fingerprint = 0, counts = "", prints } of places) {
    text += `${traceId} ${spanId} ${dottedOrder} ${fingerprint} ${counts}\n`;
    for (const print of prints ?? []) text += `${traceId} ${print}\n`; // the log records in it
  }
  return { runs: places.length, text };
}

/** One record → its decisions, in order. */
export function* parseDecisions(record: SpoolRecord): Generator<Decision> {
  const tenant = String(record.header["tenant"]);
  for (const line of record.body.toString("latin1").split("\n")) {
    const [traceId, spanId, dottedOrder, print = "0", ...counts] = line.split(" ");
    if (traceId !== undefined && spanId !== undefined && dottedOrder !== undefined)
      yield { tenant, traceId, spanId, dottedOrder, fingerprint: Number(print), counts: counts.join(" ") };
  }
}
