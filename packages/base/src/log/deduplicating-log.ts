// Quiet log: logs the first line of a kind, then counts repetitions. An unreachable backend or a full disk would
// otherwise add one line per batch.
// Invariants:
//   deduplicating-log.1. The first line of a kind (event, and tenant, destination or host) is logged at once. Further
//        lines within `repeatMs` are counted.
//   deduplicating-log.2. After `repeatMs` the newest line is logged with `repeated`, the number of lines it represents.
//        Every suppressed line is counted, also at shutdown.
//   deduplicating-log.3. Distinguishes KINDS_MAX kinds; beyond that, a kind is the event alone.
import type { Clock } from "../clock.ts";
import type { Log, LogFields, LogLevel } from "./log.ts";

export interface DeduplicatingLog extends Log {
  /** Logs suppressed lines now. The log stays usable. */
  readonly flush: () => void;
}

const REPEAT_MS = 10_000;
const KINDS_MAX = 1000;

interface Kind {
  since: number;
  repeated: number;
  say: (repeated: number) => void;
  cancel: () => void;
}

export function createDeduplicatingLog(log: Log, clock: Clock, repeatMs = REPEAT_MS): DeduplicatingLog {
  const kinds = new Map<string, Kind>();

  function nameEvent(event: string, fields: LogFields): string {
    const whose = fields["tenant"] ?? fields["destination"] ?? fields["host"];
    const name = `${event} ${typeof whose === "string" ? whose : ""}`;
    if (kinds.has(name) || kinds.size < KINDS_MAX) return name;
    for (const [old, { repeated, since }] of kinds)
      if (repeated === 0 && clock.monotonic() - since >= repeatMs) kinds.delete(old);
    return kinds.size < KINDS_MAX ? name : event; // deduplicating-log.3
  }

  function take(level: LogLevel, event: string, fields: LogFields = {}): void {
    const now = clock.monotonic();
    const name = nameEvent(event, fields);
    const say = (repeated: number): void => log[level](event, repeated === 0 ? fields : { ...fields, repeated });
    const kind = kinds.get(name);
    if (kind === undefined || (kind.repeated === 0 && now - kind.since >= repeatMs)) {
      kinds.set(name, { since: now, repeated: 0, say, cancel: () => undefined });
      return say(0); // deduplicating-log.1
    }
    kind.say = say;
    if (kind.repeated++ === 0) kind.cancel = clock.after(kind.since + repeatMs - now, () => logRepeated(kind));
  }

  /** deduplicating-log.2. */
  function logRepeated(kind: Kind): void {
    kind.cancel();
    kind.say(kind.repeated);
    kind.since = clock.monotonic();
    kind.repeated = 0;
  }

  return {
    debug: (event, fields) => take("debug", event, fields),
    info: (event, fields) => take("info", event, fields),
    warning: (event, fields) => take("warning", event, fields),
    error: (event, fields) => take("error", event, fields),
    flush() {
      for (const kind of kinds.values()) if (kind.repeated > 0) logRepeated(kind);
    },
  };
}
