// Recover: reads the files of a spool and returns the pending requests and batches. It reads all files before it
// renames or removes any: a crash in between has no effect, and a refused folder stays unchanged.
// Invariants:
//   - Recovery finds every intact record, regardless of damage around it.
//   - A request's item is pending unless a mark that counts (recover-marks.ts) or an intact batch covers it; a batch's
//     run unless a mark does.
//   recover.3. Recovery refuses a folder of a newer version before it uses any record.
import { setDone } from "./live-records.ts";
import { basename } from "node:path";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Decision } from "../assemble/assemble.ts";
import { type SpanAccounting, createSpanAccounting } from "../shared/span-accounting.ts";
import type { Tenant } from "../shared/tenants.ts";
import { segmentName, parseSegment } from "./append-log.ts";
import {
  balance,
  type PartCounts,
  newPartCounts,
  noteDone,
  noteIntact,
  readAccounting,
  type RecordPlace,
} from "./saved-accounting.ts";
import type { FilePort } from "./disk/file-port.ts";
import { MARKS_SUFFIX } from "./marks.ts";
import type { Recovered, StoredBatch } from "./port.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import { RECORD, type SpoolRecord } from "./record.ts";
import { applyMarks, buildPlaceKey, type NewlyVoid } from "./recover-marks.ts";
import { scanFile, scanMarks, type Scan } from "./scan.ts";
import { parseDecisions, TREES_SUFFIX, type TreeSegment } from "./tree-log.ts";

export interface Recovery extends Recovered {
  readonly nextSegment: number;
  readonly nextTreeSegment: number;
  readonly segments: ReadonlyMap<number, RecoveredSegment>;
  /** Segments without a file whose marks are needed until a newer accounting is on disk (saved-accounting.ts). */
  readonly marksLeft: readonly number[];
  /** Batches whose marks must not count any more. */
  readonly voided: readonly NewlyVoid[];
  readonly treeSegments: readonly TreeSegment[];
}

interface RecoveredSegment {
  readonly bytes: number;
  readonly parts: number;
  readonly damaged: boolean;
}

export interface RecoverPorts {
  readonly files: FilePort;
  readonly log: Log;
  readonly ring: Keyring | null;
  readonly buildTenant: (apiKey: string, tenantId: string) => Tenant;
  readonly treeRunsKept: number;
}

interface Found {
  readonly requests: Map<string, StoredRequest>;
  readonly batches: Map<string, StoredBatch>;
  readonly covers: { readonly place: RecordPlace; readonly indexes: readonly number[] }[];
  accounting: SpanAccounting;
  readonly counts: PartCounts;
  badRecords: number;
  /** Changes to the folder, applied after the last file. */
  readonly tidying: (() => Promise<void>)[];
}

const LOG_SUFFIX = "log";

export async function recoverSpool(dir: string, ports: RecoverPorts): Promise<Recovery> {
  const names = await ports.files.list(dir);
  const numbers = (suffix: string): number[] =>
    names
      .map((name) => parseSegment(name, suffix))
      .filter((segment) => segment !== null)
      .sort((a, b) => a - b);
  const found: Found = {
    requests: new Map(),
    batches: new Map(),
    covers: [],
    accounting: createSpanAccounting(),
    counts: newPartCounts(),
    badRecords: 0,
    tidying: [],
  };
  const segments = new Map<number, RecoveredSegment>();
  const logs = numbers(LOG_SUFFIX);
  const treeNumbers = numbers(TREES_SUFFIX);
  const marksNumbers = numbers(MARKS_SUFFIX);
  for (const segment of logs) {
    const scan = await readFile(`${dir}/${segmentName(segment, LOG_SUFFIX)}`, segment, ports, found);
    readSegment(segment, scan.records, found, ports.buildTenant);
    const parts = found.counts.intact.get(segment) ?? 0;
    segments.set(segment, { bytes: scan.bytes, parts, damaged: scan.badStretches > 0 });
  }
  for (const { place, indexes } of found.covers) coverDone(found, place, indexes);
  const pathOfMarks = (segment: number): string => `${dir}/${segmentName(segment, MARKS_SUFFIX)}`;
  const marks = new Map<number, readonly SpoolRecord[]>();
  for (const segment of marksNumbers)
    marks.set(segment, (await readFile(pathOfMarks(segment), segment, ports, found)).records);
  const { named, voided } = applyMarks(marks, found, (segment) => segments.has(segment));
  const marksLeft: number[] = [];
  for (const segment of marksNumbers.filter((one) => !segments.has(one))) {
    if (named.has(segment) || found.counts.pending.has(segment)) marksLeft.push(segment);
    else found.tidying.push(() => ports.files.unlink(pathOfMarks(segment)));
  }
  const trees = await readTrees(dir, treeNumbers, ports, found);
  for (const tidy of found.tidying) await tidy().catch(() => undefined); // recover.3: this is after the last file
  const requests = [...found.requests.values()].filter((request) => request.pending > 0);
  const batches = [...found.batches.values()].filter((batch) => batch.pending > 0);
  const pending = [...requests, ...batches].reduce((sum, stored) => sum + stored.pending, 0);
  balance(found.accounting, found.counts, pending, ports.log);
  return {
    ...trees,
    requests,
    batches,
    segments,
    marksLeft,
    voided,
    accounting: found.accounting,
    badRecords: found.badRecords,
    nextSegment: Math.max(0, ...logs, ...marksNumbers) + 1,
    nextTreeSegment: Math.max(0, ...treeNumbers) + 1,
  };
}

async function readFile(
  path: string,
  segment: number,
  ports: RecoverPorts,
  found: Found,
): Promise<Scan & { readonly bytes: number }> {
  let content: Buffer = Buffer.alloc(0);
  try {
    const bytes = await ports.files.size(path);
    const file = await ports.files.openToRead(path);
    try {
      content = await file.read(0, bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    found.badRecords++;
    ports.log.error("spool_file_unreadable", { file: basename(path), reason: String(error) });
    found.tidying.push(() => ports.files.rename(path, `${path}.bad`));
    return { records: [], badStretches: 0, tornBytes: 0, bytes: 0 };
  }
  const scan = path.endsWith(MARKS_SUFFIX)
    ? scanMarks(content, path)
    : scanFile(content, { path, segment }, ports.ring); // recover.3
  if (scan.badStretches > 0) {
    found.badRecords += scan.badStretches;
    ports.log.error("spool_file_damaged", { file: basename(path), damaged: scan.badStretches });
  }
  return { ...scan, bytes: content.length };
}

function readSegment(
  segment: number,
  records: readonly SpoolRecord[],
  found: Found,
  buildTenant: RecoverPorts["buildTenant"],
): void {
  for (const record of records) {
    const { header, offset, bytes } = record;
    const tenant = buildTenant(asText(header["apiKey"]), asText(header["tenantId"]));
    const key = buildPlaceKey({ segment, offset });
    if (record.type === RECORD.accounting) readAccounting(record, segment, found.accounting, found.counts);
    else if (record.type === RECORD.request) {
      const spans = Number(header["spans"]);
      const rejected = Number(header["rejected"]);
      const counts = header["signal"] === "logs" ? found.accounting.records : found.accounting;
      counts.received += spans + rejected;
      counts.rejected += rejected;
      noteIntact(found.counts, segment, spans);
      found.requests.set(key, { segment, offset, bytes, tenant, spans, pending: spans, done: null });
    } else if (record.type === RECORD.batch) {
      const runs = (header["offsets"] as number[]).length;
      const createdMs = Number(header["createdMs"]);
      for (const [inSegment = 0, at = 0, ...indexes] of header["covers"] as number[][])
        found.covers.push({ place: { segment: inSegment, offset: at }, indexes });
      noteIntact(found.counts, segment, runs);
      found.batches.set(key, { segment, offset, bytes, tenant, createdMs, runs, pending: runs, done: null });
    }
  }
}

function coverDone({ requests, counts }: Found, place: RecordPlace, indexes: readonly number[]): void {
  const request = requests.get(buildPlaceKey(place));
  if (request === undefined) return noteDone(counts, place, indexes);
  for (const index of indexes) setDone(request, request.spans, index);
}

async function readTrees(
  dir: string,
  numbers: readonly number[],
  ports: RecoverPorts,
  found: Found,
): Promise<{ readonly decisions: Iterable<Decision>; readonly treeSegments: TreeSegment[] }> {
  const treeSegments: TreeSegment[] = [];
  const records: SpoolRecord[][] = [];
  let runs = 0;
  for (const segment of numbers.toReversed()) {
    const scan = await readFile(`${dir}/${segmentName(segment, TREES_SUFFIX)}`, segment, ports, found);
    const own = scan.records.filter((record) => record.type === RECORD.decisions);
    const ownRuns = own.reduce((sum, record) => sum + Number(record.header["runs"]), 0);
    const newestMs = Number(own.at(-1)?.header["at"] ?? 0);
    treeSegments.unshift({ segment, runs: ownRuns, bytes: scan.bytes, newestMs });
    if (runs < ports.treeRunsKept) records.unshift(own);
    runs += ownRuns;
  }
  return { treeSegments, decisions: eachDecision(records.flat()) };
}

function* eachDecision(records: readonly SpoolRecord[]): Generator<Decision> {
  for (const record of records) yield* parseDecisions(record);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
