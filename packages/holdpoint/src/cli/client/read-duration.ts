// Durations of the command line.
const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** `30m`, `2h`, `7d` → seconds; null for other texts. */
export function readSeconds(text: string): number | null {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? null : Number(count) * UNITS[unit as keyof typeof UNITS];
}
