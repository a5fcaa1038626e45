// Prometheus: metrics in the text format → numbers. Pure. Supports the subset that our services write: names, labels,
// values; no timestamps.

export interface Figure {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", '"': '"', "\\": "\\" };

/** Skips lines outside the format. */
export function figuresIn(text: string): readonly Figure[] {
  const found: Figure[] = [];
  for (const line of text.split("\n")) {
    const [, name, labels = "", written = ""] = LINE.exec(line) ?? [];
    const value = written === "+Inf" ? Number.POSITIVE_INFINITY : Number(written);
    if (name === undefined || line.startsWith("#") || Number.isNaN(value)) continue;
    found.push({ name, labels: labelsIn(labels), value });
  }
  return found;
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = "", value = ""]): readonly [string, string] => [
    name,
    value.replaceAll(/\\(.)/g, (_, sign: string) => ESCAPED[sign] ?? sign),
  ]);
  return Object.fromEntries(pairs);
}

/** Sum of all series with the name; 0 without any. */
export function sumFigures(figures: readonly Figure[], name: string): number {
  return figures.reduce((sum, figure) => (figure.name === name ? sum + figure.value : sum), 0);
}

/** Label value → sum, without zeros, largest first. */
export function computeShares(
  figures: readonly Figure[],
  name: string,
  label: string,
): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const figure of figures) {
    if (figure.name !== name) continue;
    const key = figure.labels[label] ?? "";
    sums.set(key, (sums.get(key) ?? 0) + figure.value);
  }
  return [...sums].filter(([, sum]) => sum > 0).sort(([, one], [, other]) => other - one);
}

/**
 * Quantile of a histogram, over all its labels: the value below which `share` (0 to 1) of the observations lie,
 * interpolated linearly within its bucket. Null without observations.
 */
export function computeQuantile(figures: readonly Figure[], name: string, share: number): number | null {
  const buckets = new Map<number, number>();
  for (const { name: own, labels, value } of figures) {
    if (own !== `${name}_bucket`) continue;
    const bound = labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  const bounds = [...buckets.keys()].sort((one, other) => one - other);
  const all = buckets.get(Number.POSITIVE_INFINITY) ?? 0;
  if (all === 0) return null;
  const wanted = share * all;
  let [lowest, below] = [0, 0];
  for (const bound of bounds) {
    const upTo = buckets.get(bound) ?? 0;
    if (upTo >= wanted && upTo > below) {
      if (!Number.isFinite(bound)) return lowest;
      return lowest + ((bound - lowest) * (wanted - below)) / (upTo - below);
    }
    [lowest, below] = [Number.isFinite(bound) ? bound : lowest, upTo];
  }
  return lowest;
}
