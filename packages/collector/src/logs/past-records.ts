// Past records: the log records that an earlier process joined, from the tree log. A request that its sender repeats after
// a restart has them again.
// Invariants:
//   - Only new requests are compared: a replay of the spool has records whose run was not safe.
//   - A span whose records joined it before is a repeat itself: without them it would amend its run to less.
//   - At most `spansMax` spans, the newest; the tree log keeps records for SPAN_TTL.
import { CHILD } from "./emit-records.ts";
import { type JoinLimits, buildJoinKey } from "./join-table.ts";
import { recallSeen, type SeenRecords } from "./repeated-records.ts";

/** Records of one span. */
interface Past {
  readonly seen: SeenRecords;
  /** In the run of the span itself. */
  hasJoined: boolean;
}

export interface PastRecords {
  /** @param mark `#print` or `~print` */
  readonly recall: (tenantId: string, traceId: string, spanId: string, mark: string) => void;
  readonly findSeen: (key: string) => SeenRecords | undefined;
  readonly hasJoined: (key: string) => boolean;
  readonly isEmpty: () => boolean;
}

export function createPastRecords({ spansMax }: Pick<JoinLimits, "spansMax">): PastRecords {
  const spans = new Map<string, Past>();
  return {
    recall(tenantId, traceId, spanId, mark) {
      const key = buildJoinKey(tenantId, traceId, spanId);
      const past = spans.get(key) ?? { seen: new Map(), hasJoined: false };
      past.hasJoined ||= !mark.startsWith(CHILD);
      recallSeen(past.seen, mark.slice(1));
      spans.set(key, past);
      if (spans.size > spansMax) spans.delete(spans.keys().next().value ?? "");
    },
    findSeen: (key) => spans.get(key)?.seen,
    isEmpty: () => spans.size === 0,
    hasJoined: (key) => spans.get(key)?.hasJoined === true,
  };
}
