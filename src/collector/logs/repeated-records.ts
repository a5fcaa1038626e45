// Repeated records: a sender that missed the reply sends its request again, and the records of a span must not join it
// twice. Two equal records of one request are two: a conversation may say the same twice within one clock tick.
import type { LogRecord } from "../otlp/log-record.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import { hashOf, printOf } from "./record-event.ts";

interface SeenRecord {
  /** How often one request had it. */
  times: number;
  request: RequestContext;
  timesInRequest: number;
}

/** The records of one span, waiting or joined, by their print. */
export type SeenRecords = Map<string, SeenRecord>;

/** A span with more records forgets those before: they are in children of it (join-records.4). */
const SEEN_MAX = 8_192;

/** An earlier request had this record. `request` is one object for all records of a request. */
export function isRepeated(seen: SeenRecords, record: LogRecord, request: RequestContext): boolean {
  const print = hashOf([printOf(record)], 32);
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
