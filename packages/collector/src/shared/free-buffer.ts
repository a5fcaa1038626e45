// Free buffer: frees a buffer's memory at once instead of waiting for the garbage collector. Every chunk of a body is
// an allocation outside the heap. Without this, tens of megabytes accumulate under load, and the C library never
// returns their fragments. Measured with refused requests of 200 KB: peak 263 to 304 MB without this, 169 to 207 MB
// with it. Freeing also costs less than collecting (0.4 µs against 0.9 to 4.6).
// Invariants:
//   free-buffer.1. Frees only a buffer that owns its memory. A slice of a larger buffer stays unchanged.
//   - The caller holds the last reference: other references see an empty buffer.

export function freeBuffer(buffer: Buffer): void {
  const memory = buffer.buffer;
  if (memory instanceof ArrayBuffer && memory.byteLength === buffer.length && buffer.length > 0) memory.transfer(0); // free-buffer.1
}
