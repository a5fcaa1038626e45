// Encode run: one run as a body of its own, for runs that must not share a batch.
import type { TraceRun } from "../shared/trace-run.ts";
import { type Body, type BodyEncoding, compress } from "./batch-body.ts";
import { BOUNDARY, createRunWriter } from "./multipart.ts";

export interface EncodeRunOptions {
  readonly createdMs: number;
  readonly encoding: BodyEncoding;
}

export async function encodeRun(run: TraceRun, options: EncodeRunOptions): Promise<Body> {
  const writer = createRunWriter();
  writer.write(run);
  const rawBytes = writer.bytes();
  const { createdMs, encoding } = options;
  const raw = {
    tenant: run.tenant,
    createdMs,
    boundary: BOUNDARY,
    bytes: writer.close(),
    rawBytes,
    offsets: [0],
    first: 0,
  };
  const body = await compress(raw, encoding);
  writer.release();
  return body;
}
