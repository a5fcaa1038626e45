// Ranges: places in a text.

/** Half-open ranges in ascending order: start, end, start, end, … */
export type Ranges = readonly number[];

/** In ascending order, without overlaps. */
export function merged(ranges: Ranges): Ranges {
  const pairs: [number, number][] = [];
  for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at] ?? 0, ranges[at + 1] ?? 0]);
  pairs.sort(([one], [other]) => one - other);
  const result: number[] = [];
  for (const [start, end] of pairs) {
    const last = result.length - 1;
    if (last > 0 && start < (result[last] ?? 0)) result[last] = Math.max(end, result[last] ?? 0);
    else result.push(start, end);
  }
  return result;
}
