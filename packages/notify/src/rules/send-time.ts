// Send time: when a message about an event may leave, by the digest and the quiet hours of its rule. Pure.
// Invariants:
//   send-time.1. A message never leaves before its event, nor in quiet hours, unless the item's deadline comes first.
//   send-time.2. The time depends on the rule and the event only: items of one period share it, and so one message.
import { parseDurationMs, parseMinutes, type NotificationRule, findWeekday } from "./notifications.ts";

type Timing = Pick<NotificationRule, "digest" | "quiet_hours">;
type QuietHours = NonNullable<NotificationRule["quiet_hours"]>;

/** Time that a person needs before a deadline. */
const NOTICE_MS = 60 * 60_000;
/** A week of days off and hours has at most two ends a day. */
const STEPS_MAX = 16;

/** @param expiresAt deadline of the item */
export function sendTime({ digest, quiet_hours: quiet }: Timing, at: number, expiresAt: number | null): number {
  const collected = digest === undefined ? at : digestTime(digest, at);
  const due = quiet === undefined ? collected : afterQuiet(quiet, collected);
  return expiresAt !== null && due > expiresAt - NOTICE_MS ? at : due; // send-time.1
}

function digestTime(digest: NonNullable<Timing["digest"]>, at: number): number {
  if ("every" in digest) {
    const period = parseDurationMs(digest.every);
    return (Math.floor(at / period) + 1) * period; // send-time.2
  }
  return Math.min(...digest.at.map((time) => nextLocal(at, parseMinutes(time), digest.time_zone)));
}

function afterQuiet(quiet: QuietHours, from: number): number {
  let at = from;
  for (let step = 0; step < STEPS_MAX; step++) {
    const end = quietEnd(quiet, at);
    if (end === null) return at;
    at = end;
  }
  return at;
}

/** End of the quiet time at this moment; null if it is not quiet. */
function quietEnd({ from, to, days_off: daysOff, time_zone: zone }: QuietHours, at: number): number | null {
  const { minutes, weekday } = localTime(at, zone);
  if (daysOff.some((day) => findWeekday(day) === weekday)) return nextLocal(at, 0, zone);
  const [start, end] = [parseMinutes(from), parseMinutes(to)];
  const isQuiet = start < end ? minutes >= start && minutes < end : minutes >= start || minutes < end;
  return isQuiet ? nextLocal(at, end, zone) : null;
}

interface LocalTime {
  /** Minutes since local midnight. */
  readonly minutes: number;
  /** 0 is Monday. */
  readonly weekday: number;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const NAMES = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const formats = new Map<string, Intl.DateTimeFormat>();

function localTime(at: number, zone: string): LocalTime {
  let format = formats.get(zone);
  if (format === undefined) {
    const parts = { hour: "2-digit", minute: "2-digit", weekday: "short", hourCycle: "h23" } as const;
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, ...parts });
    formats.set(zone, format);
  }
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    minutes: Number(part["hour"]) * 60 + Number(part["minute"]),
    weekday: NAMES.indexOf(part["weekday"] ?? ""),
  };
}

/** The first moment after `at` at which the clock of the zone shows these minutes; a skipped time is later by the gap. */
function nextLocal(at: number, minutes: number, zone: string): number {
  const start = Math.floor(at / MINUTE_MS) * MINUTE_MS;
  const ahead = (minutes - localTime(start, zone).minutes + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
  const guess = start + ahead * MINUTE_MS;
  // The clock may change in between: the difference is the change.
  const off = ((minutes - localTime(guess, zone).minutes + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2;
  const moved = guess + off * MINUTE_MS;
  return off !== 0 && moved > at && localTime(moved, zone).minutes === minutes ? moved : guess;
}
