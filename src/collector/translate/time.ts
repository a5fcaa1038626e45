// Time: nanoseconds since 1970 → RFC 3339 text, with all nine digits, so that nothing a sender measured is lost.
import type { UnixNano } from "../otlp/span.ts";

let secondAt = -1;
let secondText = "";

export function rfc3339(time: UnixNano): string {
  if (time.sec !== secondAt) {
    secondAt = time.sec; // spans of one request mostly share a second
    secondText = new Date(time.sec * 1000).toISOString().slice(0, 20);
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
