// Local time: the wall clock of a time zone, and the next moment at which it shows a time. Pure.

export interface LocalTime {
  /** Minutes since local midnight. */
  readonly minutes: number;
  /** 0 is Monday. */
  readonly weekday: number;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const NAMES = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const formats = new Map<string, Intl.DateTimeFormat>();

export function localTime(at: number, zone: string): LocalTime {
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
export function nextLocal(at: number, minutes: number, zone: string): number {
  const start = Math.floor(at / MINUTE_MS) * MINUTE_MS;
  const ahead = (minutes - localTime(start, zone).minutes + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
  const guess = start + ahead * MINUTE_MS;
  // The clock may change in between: the difference is the change.
  const off = ((minutes - localTime(guess, zone).minutes + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2;
  const moved = guess + off * MINUTE_MS;
  return off !== 0 && moved > at && localTime(moved, zone).minutes === minutes ? moved : guess;
}
