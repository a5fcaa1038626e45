// Fitting rows: how many rows of a list one page has, by their sizes.

/** @returns the number of rows that have at most `bytesMax` together, but at least `least` */
export function fittingRows(rows: readonly Readonly<Record<string, unknown>>[], bytesMax: number, least = 1): number {
  let bytes = 0;
  const end = rows.findIndex((row, at) => (bytes += Number(row["bytes"] ?? 0)) > bytesMax && at >= least);
  return end < 0 ? rows.length : end;
}
