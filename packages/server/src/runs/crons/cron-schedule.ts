// Cron schedule: the due times of a schedule. Pure; croner handles daylight saving.
// Invariants:
//   cron-schedule.1. A tick is strictly after the reference time, and before the end.
//   cron-schedule.2. A schedule without any tick, or with an unknown time zone, is rejected with the reason.
import { Cron as Pattern } from "croner";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";

export interface Schedule {
  /** Five fields (minute, hour, day, month, weekday), or six with seconds first; or a nickname such as `@daily`. */
  readonly schedule: string;
  /** IANA name; null is UTC. */
  readonly timezone: string | null;
  /** No tick at or after this time. */
  readonly endTime: number | null;
}

/**
 * The first tick after `after`, or null if the end comes first. A time skipped in spring is due after the clock change.
 * A time repeated in autumn is due once for a fixed hour and minute, and twice for a repeating schedule.
 * @throws {ApiError} `cron_schedule_invalid`
 */
export function nextTick({ schedule, timezone, endTime }: Schedule, after: number): number | null {
  const zone = timezone ?? "UTC";
  if (ONE_DATE.test(schedule)) throw invalid(`"${schedule}" is a date, not a schedule`);
  if (!isZone(zone)) throw invalid(`"${zone}" is not a time zone; write one such as "Europe/Berlin"`);
  let next: Date | null;
  try {
    next = new Pattern(schedule, { paused: true, mode: "5-or-6-parts", timezone: zone }).nextRun(new Date(after));
  } catch (error) {
    throw invalid(`"${schedule}" is not a cron schedule: ${describeError(error).message.replace(/^Cron\w+: /, "")}`);
  }
  if (next === null) throw invalid(`"${schedule}" is never due`);
  const at = next.getTime();
  return endTime !== null && at >= endTime ? null : at;
}

/** croner would interpret a date as a schedule with one tick. */
const ONE_DATE = /^\s*\d{4}-\d/;

function isZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

function invalid(reason: string): ApiError {
  return new ApiError("cron_schedule_invalid", `${reason}.`);
}
