// Chunks: splits a list of rows by their sizes, so that a list of large rows is read a few at a time.
// Invariants:
//   chunks.1. A chunk has at most CHUNK_BYTES in total and CHUNK_ROWS rows, or is a single row.
//   chunks.2. The chunks have every row, in order.
export const CHUNK_BYTES = 256 * 1024;
const CHUNK_ROWS = 1000;

export function* splitChunks<Row extends { readonly bytes: number }>(rows: readonly Row[]): Generator<readonly Row[]> {
  let [from, bytes] = [0, 0];
  for (const [at, row] of rows.entries()) {
    if (at > from && (bytes + row.bytes > CHUNK_BYTES || at - from >= CHUNK_ROWS)) {
      yield rows.slice(from, at);
      [from, bytes] = [at, 0];
    }
    bytes += row.bytes;
  }
  if (from < rows.length) yield rows.slice(from);
}
