// Byte order mark of UTF-8, which some editors and .NET write in front of JSON.
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The same bytes without the mark. */
export function skipMark(body: Buffer): Buffer {
  return body.subarray(0, 3).equals(BYTE_ORDER_MARK) ? body.subarray(3) : body;
}
