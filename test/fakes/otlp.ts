// OTLP for tests: one description of spans, written as protobuf, as JSON of the protocol, and as JSON in the seed's
// form.

export interface TestSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly kind?: number;
  readonly start?: bigint;
  readonly end?: bigint;
  readonly attributes?: Readonly<Record<string, TestValue>>;
  readonly events?: readonly {
    readonly name: string;
    readonly time: bigint;
    readonly attributes?: Readonly<Record<string, TestValue>>;
  }[];
  readonly links?: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceState?: string;
    readonly attributes?: Readonly<Record<string, TestValue>>;
  }[];
  readonly status?: { readonly code: number; readonly message?: string };
  readonly traceState?: string;
  readonly flags?: number;
  readonly droppedAttributes?: number;
}

export type TestValue =
  | string
  | boolean
  | bigint
  | number
  | Uint8Array
  | null
  | readonly TestValue[]
  | { readonly [key: string]: TestValue };

const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];
const CODES = ["UNSET", "OK", "ERROR"];
export const T0 = 1_732_170_000_123_456_789n;

export function hexId(value: number | bigint, bytes: 8 | 16): string {
  return value.toString(16).padStart(bytes * 2, "0");
}

/** A chain or tree of LLM-like spans with comparable contents. */
export function buildSpan(trace: number, span: number, parent?: number, extra: Partial<TestSpan> = {}): TestSpan {
  return {
    traceId: hexId(0xa0000000n + BigInt(trace), 16),
    spanId: hexId(trace * 100_000 + span + 1, 8),
    ...(parent === undefined ? {} : { parentSpanId: hexId(trace * 100_000 + parent + 1, 8) }),
    name: `span ${trace}.${span}`,
    kind: 1,
    start: T0 + BigInt(span) * 1_000_000n,
    end: T0 + BigInt(span) * 1_000_000n + 500_000n,
    attributes: { "gen_ai.prompt": JSON.stringify({ text: `question ${trace}.${span}` }) },
    ...extra,
  };
}

// ---- protobuf ----
export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

export function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function number64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return Buffer.concat([varint(number * 8 + 1), bytes]);
}

function number32(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return Buffer.concat([varint(number * 8 + 5), bytes]);
}

export function protobufValue(value: TestValue): Buffer {
  if (value === null) return Buffer.alloc(0);
  if (typeof value === "string") return field(1, value);
  if (typeof value === "boolean") return Buffer.from([0x10, value ? 1 : 0]);
  if (typeof value === "bigint") return Buffer.concat([Buffer.from([0x18]), varint(value)]);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(9);
    bytes[0] = 0x21;
    bytes.writeDoubleLE(value, 1);
    return bytes;
  }
  if (value instanceof Uint8Array) return field(7, value);
  if (isList(value)) return field(5, Buffer.concat(value.map((item) => field(1, protobufValue(item)))));
  return field(6, protobufAttributes(1, value));
}

function isList(value: TestValue): value is readonly TestValue[] {
  return Array.isArray(value);
}

export function protobufAttributes(number: number, attributes: Readonly<Record<string, TestValue>>): Buffer {
  const list = Object.entries(attributes);
  return Buffer.concat(
    list.map(([key, value]) => field(number, Buffer.concat([field(1, key), field(2, protobufValue(value))]))),
  );
}

export function protobufSpan(span: TestSpan): Buffer {
  const parts = [field(1, Buffer.from(span.traceId, "hex")), field(2, Buffer.from(span.spanId, "hex"))];
  if (span.parentSpanId !== undefined) parts.push(field(4, Buffer.from(span.parentSpanId, "hex")));
  parts.push(field(5, span.name ?? ""), Buffer.from([0x30, span.kind ?? 0]));
  parts.push(number64(7, span.start ?? 0n), number64(8, span.end ?? 0n), protobufAttributes(9, span.attributes ?? {}));
  for (const event of span.events ?? [])
    parts.push(
      field(
        11,
        Buffer.concat([number64(1, event.time), field(2, event.name), protobufAttributes(3, event.attributes ?? {})]),
      ),
    );
  for (const link of span.links ?? [])
    parts.push(
      field(
        13,
        Buffer.concat([
          field(1, Buffer.from(link.traceId, "hex")),
          field(2, Buffer.from(link.spanId, "hex")),
          field(3, link.traceState ?? ""),
          protobufAttributes(4, link.attributes ?? {}),
        ]),
      ),
    );
  if (span.traceState !== undefined) parts.push(field(3, span.traceState));
  if (span.flags !== undefined) parts.push(number32(16, span.flags));
  if (span.droppedAttributes !== undefined) parts.push(Buffer.from([0x50]), varint(span.droppedAttributes));
  if (span.status !== undefined)
    parts.push(field(15, Buffer.concat([field(2, span.status.message ?? ""), Buffer.from([0x18, span.status.code])])));
  return Buffer.concat(parts);
}

export interface Envelope {
  readonly resource?: Readonly<Record<string, TestValue>>;
  readonly scope?: { readonly name: string; readonly version?: string };
}

export function protobufRequest(spans: readonly TestSpan[], envelope: Envelope = {}): Buffer {
  const scope =
    envelope.scope === undefined
      ? Buffer.alloc(0)
      : field(1, Buffer.concat([field(1, envelope.scope.name), field(2, envelope.scope.version ?? "")]));
  const scopeSpans = Buffer.concat([scope, ...spans.map((span) => field(2, protobufSpan(span)))]);
  const resource =
    envelope.resource === undefined ? Buffer.alloc(0) : field(1, protobufAttributes(1, envelope.resource));
  return field(1, Buffer.concat([resource, field(2, scopeSpans)]));
}

// ---- JSON ----
/** `seed`: base64 ids, enum names, bare nanoseconds. `spec`: hex ids, numbers, nanoseconds as text. */
export type JsonForm = "spec" | "seed";

export function jsonValue(value: TestValue): string {
  if (value === null) return "{}";
  if (typeof value === "string") return JSON.stringify({ stringValue: value });
  if (typeof value === "boolean") return JSON.stringify({ boolValue: value });
  if (typeof value === "bigint") return JSON.stringify({ intValue: value.toString() });
  if (typeof value === "number")
    return `{"doubleValue":${Number.isFinite(value) ? JSON.stringify(value) : `"${String(value)}"`}}`;
  if (value instanceof Uint8Array) return JSON.stringify({ bytesValue: Buffer.from(value).toString("base64") });
  if (isList(value)) return `{"arrayValue":{"values":[${value.map(jsonValue).join(",")}]}}`;
  return `{"kvlistValue":{"values":${jsonAttributes(value)}}}`;
}

export function jsonAttributes(attributes: Readonly<Record<string, TestValue>>): string {
  return `[${Object.entries(attributes)
    .map(([key, value]) => `{"key":${JSON.stringify(key)},"value":${jsonValue(value)}}`)
    .join(",")}]`;
}

export function jsonSpan(span: TestSpan, form: JsonForm): string {
  const id = (hex: string): string =>
    JSON.stringify(form === "spec" ? hex : Buffer.from(hex, "hex").toString("base64"));
  const nanos = (value: bigint): string => (form === "spec" ? `"${value}"` : `${value}`);
  const named = (prefix: string, names: readonly string[], value: number): string =>
    form === "spec" ? String(value) : `"${prefix}${names[value] ?? ""}"`;
  const parts = [`"traceId":${id(span.traceId)}`, `"spanId":${id(span.spanId)}`];
  if (span.parentSpanId !== undefined) parts.push(`"parentSpanId":${id(span.parentSpanId)}`);
  parts.push(`"name":${JSON.stringify(span.name ?? "")}`, `"kind":${named("SPAN_KIND_", KINDS, span.kind ?? 0)}`);
  parts.push(`"startTimeUnixNano":${nanos(span.start ?? 0n)}`, `"endTimeUnixNano":${nanos(span.end ?? 0n)}`);
  parts.push(
    `"attributes":${jsonAttributes(span.attributes ?? {})}`,
    `"droppedAttributesCount":${span.droppedAttributes ?? 0}`,
  );
  const events = (span.events ?? []).map(
    (event) =>
      `{"timeUnixNano":${nanos(event.time)},"name":${JSON.stringify(event.name)},"attributes":${jsonAttributes(event.attributes ?? {})}}`,
  );
  const links = (span.links ?? []).map(
    (link) =>
      `{"traceId":${id(link.traceId)},"spanId":${id(link.spanId)},"traceState":${JSON.stringify(link.traceState ?? "")},"attributes":${jsonAttributes(link.attributes ?? {})}}`,
  );
  parts.push(`"events":[${events.join(",")}]`, `"links":[${links.join(",")}]`);
  if (span.traceState !== undefined) parts.push(`"traceState":${JSON.stringify(span.traceState)}`);
  if (span.flags !== undefined) parts.push(`"flags":${span.flags}`);
  const { status } = span;
  parts.push(
    status === undefined
      ? `"status":{}`
      : `"status":{"code":${named("STATUS_CODE_", CODES, status.code)},"message":${JSON.stringify(status.message ?? "")}}`,
  );
  return `{${parts.join(",")}}`;
}

export function jsonRequest(spans: readonly TestSpan[], form: JsonForm = "spec", envelope: Envelope = {}): string {
  const resource =
    envelope.resource === undefined ? "" : `"resource":{"attributes":${jsonAttributes(envelope.resource)}},`;
  const scope = envelope.scope === undefined ? "" : `"scope":${JSON.stringify(envelope.scope)},`;
  return `{"resourceSpans":[{${resource}"scopeSpans":[{${scope}"spans":[${spans.map((span) => jsonSpan(span, form)).join(",")}]}]}]}`;
}
