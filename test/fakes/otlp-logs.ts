// OTLP log records for tests: one description, written as protobuf and as JSON.
import {
  type Envelope,
  field,
  jsonAttributes,
  jsonValue,
  number64,
  protobufAttributes,
  protobufValue,
  T0,
  type TestSpan,
  type TestValue,
  varint,
} from "./otlp.ts";

export interface TestRecord {
  readonly traceId?: string;
  readonly spanId?: string;
  readonly name?: string;
  readonly time?: bigint;
  readonly body?: TestValue;
  readonly severity?: number;
  readonly attributes?: Readonly<Record<string, TestValue>>;
}

/** A record of the span. */
export function buildRecord({ spanId, traceId }: TestSpan, name: string, rest: Partial<TestRecord> = {}): TestRecord {
  return { traceId, spanId, name, ...rest };
}

export function protobufRecord(record: TestRecord): Buffer {
  const parts = [number64(1, record.time ?? T0), protobufAttributes(6, record.attributes ?? {})];
  if (record.severity !== undefined) parts.push(Buffer.from([0x10, record.severity]));
  if (record.body !== undefined) parts.push(field(5, protobufValue(record.body)));
  if (record.traceId !== undefined) parts.push(field(9, Buffer.from(record.traceId, "hex")));
  if (record.spanId !== undefined) parts.push(field(10, Buffer.from(record.spanId, "hex")));
  if (record.name !== undefined) parts.push(field(12, record.name));
  return Buffer.concat(parts);
}

export function protobufLogs(records: readonly TestRecord[], envelope: Envelope = {}): Buffer {
  const scope = envelope.scope === undefined ? [] : [field(1, field(1, envelope.scope.name))];
  const scopeLogs = Buffer.concat([...scope, ...records.map((record) => field(2, protobufRecord(record)))]);
  const resource = envelope.resource === undefined ? [] : [field(1, protobufAttributes(1, envelope.resource))];
  return field(1, Buffer.concat([...resource, field(2, scopeLogs)]));
}

export function jsonLogs(records: readonly TestRecord[], envelope: Envelope = {}): string {
  const list = records.map((record) => {
    const parts = [`"timeUnixNano":"${record.time ?? T0}"`, `"attributes":${jsonAttributes(record.attributes ?? {})}`];
    if (record.severity !== undefined) parts.push(`"severityNumber":${record.severity}`);
    if (record.body !== undefined) parts.push(`"body":${jsonValue(record.body)}`);
    if (record.traceId !== undefined) parts.push(`"traceId":"${record.traceId}"`);
    if (record.spanId !== undefined) parts.push(`"spanId":"${record.spanId}"`);
    if (record.name !== undefined) parts.push(`"eventName":${JSON.stringify(record.name)}`);
    return `{${parts.join(",")}}`;
  });
  const resource =
    envelope.resource === undefined ? "" : `"resource":{"attributes":${jsonAttributes(envelope.resource)}},`;
  const scope = envelope.scope === undefined ? "" : `"scope":${JSON.stringify(envelope.scope)},`;
  return `{"resourceLogs":[{${resource}"scopeLogs":[{${scope}"logRecords":[${list.join(",")}]}]}]}`;
}

/** A record of `bytes` bytes whose declared lengths are all too large. */
export function overlongRecord(): Buffer {
  return Buffer.concat([Buffer.from([0x0a]), varint(2 ** 31), Buffer.from([0x12]), varint(2 ** 31)]);
}
