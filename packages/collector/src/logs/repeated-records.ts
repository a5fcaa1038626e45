// Repeated records: a sender that missed the reply sends its request again, and the records of a span must not join it
// twice. Two equal records of one request are two: a conversation may say the same twice within one clock tick.
import type { LogRecord } from "../otlp/log-record.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import { hashParts, fingerprintRecord } from "./record-event.ts";

interface SeenRecord {
  /** How often one request had it. */
  times: number;
  /** null: in an earlier process. */
  request: RequestContext | null;
  timesInRequest: number;
}

/** The records of one span, waiting or joined, by their print. */
export type SeenRecords = Map<string, SeenRecord>;

/** A span with more records forgets those before: they are in children of it. */
const SEEN_MAX = 8_192;

export function writePrint(record: LogRecord): string {
  return hashParts([fingerprintRecord(record)], 32);
}

/** An earlier request had this record. `request` is one object for all records of a request. */
export function isRepeated(seen: SeenRecords, print: string, request: RequestContext): boolean {
  const known = seen.get(print);
  if (known === undefined) {
    if (seen.size >= SEEN_MAX) seen.clear();
    seen.set(print, { times: 1, request, timesInRequest: 1 });
    return false;
  }
  known.timesInRequest = known.request === request ? known.timesInRequest + 1 : 1;
  known.request = request;
  if (known.timesInRequest <= known.times) return true;
  known.times = known.timesInRequest;
  return false;
}

/** A record of an earlier process, as its run was stored. */
export function recallSeen(seen: SeenRecords, print: string): void {
  const known = seen.get(print);
  if (known === undefined) seen.set(print, { times: 1, request: null, timesInRequest: 0 });
  else known.times++;
}
