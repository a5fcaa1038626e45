// Dead-lettering: writes refused runs to the dead letters and counts them. Without a dead-letter folder such runs count
// as lost. Runs in the spool that cannot be written stay there until the next start.
import type { Log } from "@holdpoint/base/log/log.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { DeadLetters } from "../upload/dead-letters.ts";
import type { Refusal } from "../upload/upload.ts";

export interface DeadLetteringPorts {
  readonly log: Log;
  readonly accounting: SpanAccounting;
  /** null without a configured folder. */
  readonly deadLetters: DeadLetters | null;
  /** null in memory mode. */
  readonly spool: object | null;
}

/** Resolves after counting the runs; with false when they stay in the spool. Never rejects. */
export type DeadLetter = (refusal: Refusal) => Promise<boolean>;

export function createDeadLettering({ accounting, deadLetters, log, spool }: DeadLetteringPorts): DeadLetter {
  return async ({ body, cause, reason }) => {
    const runs = body.offsets.length;
    const fields = { runs, cause, reason, tenant: body.tenant.id.slice(0, 8) };
    try {
      if (deadLetters === null) throw new Error("no dead-letter folder is configured");
      await deadLetters.write(body, cause, reason);
      accounting.deadLettered[cause] += runs;
      log.warning("runs_dead_lettered", fields);
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown";
      if (spool !== null && deadLetters !== null) {
        log.error("runs_kept_in_spool", { ...fields, why });
        return false;
      }
      accounting.lost[cause] += runs;
      log.error("runs_lost", { ...fields, why });
      return true;
    }
  };
}
