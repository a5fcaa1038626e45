// A reply before it is written to the connection.
export interface HttpReply {
  readonly status: number;
  /** JSON text, other text with its Content-Type in the headers, or streamed chunks. */
  readonly body: string | AsyncIterable<string | Uint8Array> | null;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Time without progress after which a slow reader is disconnected. */
  readonly stallMs?: number;
}
