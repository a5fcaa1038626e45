// RFC 3339: nanoseconds since 1970 → text with all nine digits, to keep the measured precision.
import type { UnixNano } from "../otlp/span.ts";

/**
 * `HH:MM:SS` and `YYYY-MM-DD` of a second since 1970. Uses `Date` once per day: it costs more than the rest of the
 * conversion.
 */
export function formatClock(sec: number): { readonly date: string; readonly time: string } {
  const day = Math.floor(sec / DAY_S);
  if (day !== dayAt) {
    dayAt = day;
    dayText = new Date(sec * 1000).toISOString().slice(0, 10);
  }
  const rest = sec - day * DAY_S;
  const minutes = Math.floor(rest / 60);
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(rest % 60)}`;
  return { date: dayText, time };
}

const DAY_S = 86_400;
let dayAt = -1;
let dayText = "";

const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

function two(number: number): string {
  return TWO[number] ?? "";
}

let secondAt = -1;
let secondText = "";

export function rfc3339(time: UnixNano): string {
  if (time.sec !== secondAt) {
    secondAt = time.sec; // spans of one request mostly share a second
    const { date, time: clock } = formatClock(time.sec);
    secondText = `${date}T${clock}.`;
  }
  return `${secondText}${String(1_000_000_000 + time.nano).slice(1)}Z`;
}

export function isNoTime(time: UnixNano): boolean {
  return time.sec === 0 && time.nano === 0;
}

export function unixNanoOfMs(ms: number): UnixNano {
  const sec = Math.floor(ms / 1000);
  return { sec, nano: Math.round((ms - sec * 1000) * 1_000_000) };
}

export function plusSeconds(time: UnixNano, seconds: number): UnixNano {
  const nano = time.nano + Math.round(seconds * 1_000_000_000);
  const carry = Math.floor(nano / 1_000_000_000);
  return { sec: time.sec + carry, nano: nano - carry * 1_000_000_000 };
}
