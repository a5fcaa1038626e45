// Status: replies of OTLP, in the encoding of the request: Export…ServiceResponse and google.rpc.Status.
import { varintBytes } from "./varint.ts";

export type WireFormat = "protobuf" | "json";

/** `[HTTP status, gRPC code]` for every refusal of this service. */
export const REFUSALS = {
  undecodable: [400, 3],
  bad_header: [400, 3],
  unauthenticated: [401, 16],
  forbidden_host: [403, 7],
  forbidden_origin: [403, 7],
  not_found: [404, 5],
  method_not_allowed: [405, 12],
  too_slow: [408, 4],
  too_large: [413, 8],
  unsupported_media_type: [415, 3],
  over_limit: [429, 8],
  no_room: [503, 14],
  spool_unwritable: [503, 14],
  stopping: [503, 14],
} as const satisfies Record<string, readonly [httpStatus: number, grpcCode: number]>;

export type RefusalKind = keyof typeof REFUSALS;

export interface Refusal {
  readonly refusal: RefusalKind;
  readonly message: string;
  /** Without it, a transient refusal has the usual delay. */
  readonly retryAfterSeconds?: number;
}

export function nameContentType(format: WireFormat): string {
  return format === "json" ? "application/json" : "application/x-protobuf";
}

/** `{code, message}`; in protobuf field 1 varint, field 2 text. */
export function statusBody(kind: RefusalKind, message: string, format: WireFormat): Buffer {
  const code = REFUSALS[kind][1];
  if (format === "json") return Buffer.from(JSON.stringify({ code, message, details: [] }));
  return Buffer.concat([Buffer.from([0x08, code]), field(2, Buffer.from(message))]);
}

const EMPTY_JSON = Buffer.from("{}");
const EMPTY_PROTOBUF = Buffer.alloc(0);

/** Members of `partialSuccess` in JSON; in protobuf all have the same numbers. */
const REJECTED_NAMES: Readonly<Record<string, string>> = { traces: "rejectedSpans", logs: "rejectedLogRecords" };

/** Empty without rejected items: partial_success must be absent then. */
export function exportResponse(
  rejected: number,
  message: string,
  { format, signal }: { readonly format: WireFormat; readonly signal: string },
): Buffer {
  if (rejected === 0) return format === "json" ? EMPTY_JSON : EMPTY_PROTOBUF;
  if (format === "json") {
    const partialSuccess = { [REJECTED_NAMES[signal] ?? "rejected"]: String(rejected), errorMessage: message };
    return Buffer.from(JSON.stringify({ partialSuccess }));
  }
  const partial = Buffer.concat([Buffer.from([0x08]), varintBytes(rejected), field(2, Buffer.from(message))]);
  return field(1, partial);
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2]), varintBytes(content.length), content]);
}
