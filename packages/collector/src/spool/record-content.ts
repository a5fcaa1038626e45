// Record content: requests and batches as spool records, and back.
import type { Body, BodyEncoding } from "../encode/batch-body.ts";
import type { WireFormat } from "../otlp/status.ts";
import type { ContentEncoding } from "../shared/content-encoding.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { Tenant } from "../shared/tenants.ts";
import type { BatchRecord, RequestRecord } from "./port.ts";
import { type Encoded, encodeRecord, RECORD, type SpoolRecord } from "./record.ts";

export function encodeRequest(request: RequestRecord): Encoded {
  const { tenant, signal, format, encoding, project, receivedMs, spans, rejected, wire } = request;
  const header = { ...buildKey(tenant), signal, format, encoding, project, receivedMs, spans, rejected };
  return encodeRecord(RECORD.request, header, wire);
}

/** `covers` in the record: `[segment, offset, index, index, …]` per request. */
export function encodeBatch(body: Body, covers: readonly CoveredRequest[]): Encoded {
  const { tenant, createdMs, boundary, encoding, rawBytes, offsets } = body;
  const covered = covers.map(({ request, indexes }) => [request.segment, request.offset, ...indexes]);
  const header = { ...buildKey(tenant), createdMs, boundary, encoding, rawBytes, offsets, covers: covered };
  return encodeRecord(RECORD.batch, header, body.bytes);
}

/** Makes every record readable on its own. The key is in clear text: the files are readable by their owner only. */
function buildKey(tenant: Tenant): { readonly apiKey: string; readonly tenantId: string } {
  return { apiKey: tenant.apiKey, tenantId: tenant.tenantId };
}

/** A request, and the indexes of its spans that a batch covers. */
export interface CoveredRequest {
  readonly request: StoredRequest;
  readonly indexes: number[];
}

export function groupCovers(covers: BatchRecord["covers"]): readonly CoveredRequest[] {
  const groups = new Map<StoredRequest, number[]>();
  for (const { request, index } of covers) {
    const indexes = groups.get(request);
    if (indexes === undefined) groups.set(request, [index]);
    else indexes.push(index);
  }
  return [...groups].map(([request, indexes]) => ({ request, indexes: indexes.sort((a, b) => a - b) }));
}

export function toRequest({ body, header }: SpoolRecord, tenant: Tenant): RequestRecord {
  return {
    tenant,
    signal: header["signal"] as RequestRecord["signal"],
    format: header["format"] as WireFormat,
    encoding: header["encoding"] as ContentEncoding,
    project: String(header["project"]),
    receivedMs: Number(header["receivedMs"]),
    spans: Number(header["spans"]),
    rejected: Number(header["rejected"]),
    wire: body,
  };
}

export function readBody({ body, header }: SpoolRecord, tenant: Tenant): Body {
  return {
    tenant,
    createdMs: Number(header["createdMs"]),
    boundary: String(header["boundary"]),
    encoding: header["encoding"] as BodyEncoding,
    bytes: body,
    rawBytes: Number(header["rawBytes"]),
    offsets: header["offsets"] as number[],
    first: 0,
  };
}
