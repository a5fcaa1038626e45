// Seq floor: raises the numbers of event rows at the start of a process, by the clock.
// Invariant: a database that was restored from a backup, or filled by an import, issues no number again that a client
// may have seen before: the numbers follow the clock as long as a database stores fewer rows than ROWS_PER_SECOND on
// average. A position of a client stays below all later events.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Storage } from "../ports/ports.ts";

/** 2026-01-01. With 125 rows a second, `seq` of the protocol (65,536 per row) is an exact number until 2060. */
const BEGIN_MS = Date.UTC(2026, 0, 1);
const ROWS_PER_SECOND = 125;

export function createSeqFloor({ storage, clock }: { readonly storage: Storage; readonly clock: Clock }): Service {
  return {
    name: "event numbers",
    async start() {
      const least = Math.floor(((clock.now() - BEGIN_MS) / 1000) * ROWS_PER_SECOND);
      if (least > 0) await storage.transaction((tx) => tx.raiseEventSeq(least));
    },
    stop: () => Promise.resolve(),
  };
}
