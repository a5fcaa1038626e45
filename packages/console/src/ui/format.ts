// Format: times, durations and sizes as short texts. Pure.

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** 65000 → "1m", 7200000 → "2h". Negative counts as 0. */
export function shortDuration(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= size) return `${Math.floor(ms / size)}${unit}`;
  return "0s";
}

/** "3m ago", "in 2h", "now". */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < 1000) return "now";
  return at <= now ? `${shortDuration(distance)} ago` : `in ${shortDuration(distance)}`;
}

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function absoluteTime(at: number): string {
  return Number.isFinite(at) ? ABSOLUTE.format(at) : "unknown time";
}

/** 1234 ms → "1.23 s". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  return `${Math.floor(ms / 60_000)}m ${Math.floor((ms % 60_000) / 1000)}s`;
}

const SIZES = ["B", "kB", "MB", "GB", "TB"] as const;

export function bytes(count: number): string {
  const step = count < 1000 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${SIZES[step] ?? "B"}`;
}

/** A number with separators: 12345 → "12,345". */
export function count(value: number): string {
  return value.toLocaleString("en");
}
