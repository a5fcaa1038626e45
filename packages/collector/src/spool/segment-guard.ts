// Segment guard: detects that a closed segment file of a log was deleted or replaced under the collector.
// Invariants:
//   segment-guard.1. A missing or replaced segment with live records is in the log once, and problem() names it until
//        the file is back or its records are done. Records in memory are still delivered; a record that has to be read
//        back and cannot be is counted as lost by its reader.
//   segment-guard.2. The collection removes only files of this collector: it never touches a replacement.
import type { Log } from "@holdpoint/base/log/log.ts";
import { segmentName } from "./append-log.ts";
import type { FilePort } from "./disk/file-port.ts";

export interface SegmentGuard {
  /** Remembers the file of a segment that was opened or recovered. */
  readonly note: (segment: number) => Promise<void>;
  /** False if the segment's file was deleted or replaced. */
  readonly isOwn: (segment: number) => Promise<boolean>;
  readonly forget: (segment: number) => void;
  /** Compares the segments that have live records with the files in the folder. */
  readonly check: () => Promise<void>;
  /** The result of the last check: null, or the segment that is missing. */
  readonly problem: () => string | null;
}

export interface GuardPorts {
  readonly dir: string;
  readonly suffix: string;
  readonly files: Pick<FilePort, "identity">;
  readonly log: Log;
  /** Records of the segment that are still needed; 0 for an unknown segment. */
  readonly liveIn: (segment: number) => number;
  /** Names the loss of so many records. */
  readonly loss: (records: number) => string;
}

export function createSegmentGuard({ dir, suffix, files, log, liveIn, loss }: GuardPorts): SegmentGuard {
  const identities = new Map<number, string>();
  const missing = new Set<number>();

  const readIdentity = (segment: number): Promise<string | null> =>
    files.identity(`${dir}/${segmentName(segment, suffix)}`);

  async function isOwn(segment: number): Promise<boolean> {
    const identity = identities.get(segment);
    return identity === undefined || (await readIdentity(segment)) === identity;
  }

  async function check(): Promise<void> {
    for (const segment of identities.keys()) {
      const live = liveIn(segment);
      const isMissing = live > 0 && !(await isOwn(segment));
      if (isMissing === missing.has(segment) || !identities.has(segment)) continue;
      const name = segmentName(segment, suffix);
      if (isMissing) {
        missing.add(segment);
        log.error("spool_segment_gone", { segment: name, records: live, remedy: "restore the file" });
      } else forgetMissing(segment);
    }
  }

  function forgetMissing(segment: number): void {
    if (missing.delete(segment)) log.info("spool_segment_settled", { segment: segmentName(segment, suffix) });
  }

  return {
    async note(segment) {
      const identity = await readIdentity(segment);
      if (identity !== null) identities.set(segment, identity);
    },
    isOwn,
    check,
    forget(segment) {
      identities.delete(segment);
      forgetMissing(segment);
    },
    problem() {
      const [segment] = missing;
      if (segment === undefined) return null;
      return `${segmentName(segment, suffix)} was deleted or replaced under the collector: ${loss(liveIn(segment))}`;
    },
  };
}
