// Waterfall: the position of a span's bar in the time of its trace, and the ticks of the time axis. Pure.

export interface TimeWindow {
  readonly startUs: number;
  readonly endUs: number;
}

export interface Bar {
  /** Percent of the width, 0 to 100. */
  readonly left: number;
  readonly width: number;
  /** First token, in percent of the bar, 0 to 100. Null if unknown. */
  readonly tick: number | null;
}

const PERCENT = 100;

/** The bar stays inside, also with skewed clocks; CSS sets its minimum width. */
export function measureBar(
  { startUs, endUs }: TimeWindow,
  from: number,
  to: number,
  firstTokenUs: number | undefined,
): Bar {
  const whole = Math.max(1, endUs - startUs);
  const left = clamp(((from - startUs) / whole) * PERCENT);
  const width = clamp(((Math.max(from, to) - startUs) / whole) * PERCENT) - left;
  const length = to - from;
  const isInside = firstTokenUs !== undefined && length > 0 && firstTokenUs >= from && firstTokenUs <= to;
  return { left, width, tick: isInside ? clamp(((firstTokenUs - from) / length) * PERCENT) : null };
}

const clamp = (value: number): number => Math.min(PERCENT, Math.max(0, value));

const STEPS = [1, 2, 5] as const;

/** Round tick positions from 0; microseconds. @param most maximum number after the first. */
export function listTicks(lengthUs: number, most: number): readonly number[] {
  if (lengthUs <= 0) return [0];
  const rough = lengthUs / most;
  const long = LONG_STEPS.find((one) => one >= rough);
  if (rough > SECOND && long !== undefined) return listMultiples(long, lengthUs);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.map((one) => one * power).find((one) => one >= rough) ?? 10 * power;
  return listMultiples(step, lengthUs);
}

const SECOND = 1_000_000;
/** Round numbers in base sixty, up to a day. */
const LONG_STEPS = [2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400].map(
  (secs) => secs * SECOND,
);

const listMultiples = (step: number, length: number): readonly number[] =>
  Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);

const UNITS = [
  { us: 3_600_000_000, name: "h" },
  { us: 60_000_000, name: "m" },
  { us: 1_000_000, name: "s" },
  { us: 1000, name: "ms" },
  { us: 1, name: "µs" },
] as const;

/** 1234567 → "1.23 s", 850 → "850 µs". */
export function microTime(us: number): string {
  const unit = UNITS.find((one) => us >= one.us) ?? { us: 1, name: "µs" };
  const value = us / unit.us;
  return `${Number(value.toPrecision(value >= 100 ? 4 : 3))} ${unit.name}`;
}
