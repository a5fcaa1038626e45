// Redact: `holdpoint collector redact` applies the rules of RULES_FILE to a file of OTLP.
// The command sends nothing, and its report names places and rules, never a value.
import { readFile } from "node:fs/promises";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { skipMark } from "../otlp/byte-order-mark.ts";
import type { WireFormat } from "../otlp/status.ts";
import { decompress } from "../receive/decode-body.ts";
import { inTurns } from "../receive/in-turns.ts";
import type { Redactor, RedactRequest } from "../redact/redact.ts";
import { readRules } from "../service/rules-file.ts";
import type { CollectorConfig } from "../service/settings.ts";

export interface RedactedFile {
  /** The redacted request, in the encoding of the file. */
  readonly body: Buffer;
  readonly findings: readonly Finding[];
}

export interface Finding {
  readonly rule: string;
  readonly action: string;
  readonly part: string;
  readonly path: string;
  readonly count: number;
}

const FILE_BYTES_MAX = 200 * 1024 * 1024;
const OPENING_BRACE = 0x7b;
const NEWLINE = 0x0a;

/** @param path OTLP of one signal in JSON, JSON lines or protobuf, plain or gzipped. @throws {DecodeError | ConfigError} */
export async function redactFile(
  path: string,
  config: CollectorConfig,
  signal: RedactRequest["signal"],
): Promise<RedactedFile> {
  const { redactor } = readRules(config);
  if (redactor === null)
    throw new ConfigError([{ name: "RULES_FILE", reason: "has no rule that redacts, or is not set" }]);
  const wire = await readFile(path);
  const limits = { bytesMax: FILE_BYTES_MAX, grow: () => true };
  const body = skipMark(wire[0] === 0x1f && wire[1] === 0x8b ? await decompress(wire, "gzip", limits) : wire);
  const findings = new Map<string, Finding>();
  const parts: Buffer[] = [];
  for (const request of splitRequests(body)) parts.push(await redactOne(redactor, { ...request, signal }, findings));
  return { body: Buffer.concat(parts), findings: [...findings.values()] };
}

/** One request, or one per line, as the file exporter of the OpenTelemetry Collector writes them. */
function* splitRequests(body: Buffer): Generator<{ readonly body: Buffer; readonly format: WireFormat }> {
  const isJson = body.find((byte) => byte > 0x20) === OPENING_BRACE;
  if (!isJson) {
    yield { body, format: "protobuf" };
    return;
  }
  let start = 0;
  for (let end = body.indexOf(NEWLINE); end >= 0; end = body.indexOf(NEWLINE, end + 1)) {
    if (!isWhole(body.subarray(start, end))) continue; // a line break inside the request
    yield { body: body.subarray(start, end + 1), format: "json" };
    start = end + 1;
  }
  if (start < body.length) yield { body: body.subarray(start), format: "json" };
}

function isWhole(line: Buffer): boolean {
  if (line.at(-1) !== 0x7d) return false;
  try {
    JSON.parse(line.toString());
    return true;
  } catch {
    return false;
  }
}

function redactOne(
  redactor: Redactor,
  request: Pick<RedactRequest, "body" | "format" | "signal">,
  findings: Map<string, Finding>,
): Promise<Buffer> | Buffer {
  return inTurns(
    redactor.redact({ ...request, project: "", tenantId: "" }, (rule, part, members) => {
      const path = members.join("/");
      const key = `${rule.name} ${part} ${path}`;
      const count = (findings.get(key)?.count ?? 0) + 1;
      findings.set(key, { rule: rule.name, action: rule.action, part, path, count });
    }),
  );
}

/** One line per rule and place. */
export function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return "no rule matches";
  const width = Math.max(...findings.map(({ rule }) => rule.length));
  return findings
    .map(
      ({ action, count, part, path, rule }) => `${rule.padEnd(width)}  ${action.padEnd(7)}  ${part} ${path}  ${count}`,
    )
    .join("\n");
}
