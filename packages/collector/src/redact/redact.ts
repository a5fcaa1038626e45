// Redact: takes personal data and secrets out of the bytes of a request, before anything decodes, stores or sends it
// (receive → redact → decode → …). The pieces:
//   redact-schema.ts    the rules as the rules file has them
//   redaction-rule.ts   one rule, compiled
//   parts.ts            the parts of a request
//   rules-at.ts         the rules for a value or a text at a place
//   path-pattern.ts     names of attributes and of members inside them
//   detectors.ts        e-mail addresses, card numbers, keys and tokens
//   otlp-messages.ts    the fields of OTLP that hold texts
//   redact-protobuf.ts, redact-json.ts  one request in its encoding
//   redact-value.ts     one text, with JSON inside it
//   json-text.ts        JSON that keeps the digits of its numbers
// Invariants:
//   - Redaction is a pure function of the bytes, the rules and the project: it runs in any thread, and a replay
//     never sees what it removed.
//   - A request that no rule matches keeps its bytes.
//   - Fails closed: bytes that cannot be read are refused, never passed on.
import { isUtf8 } from "node:buffer";
import { skipMark } from "../otlp/byte-order-mark.ts";
import { DecodeError } from "../otlp/decoded.ts";
import type { WireFormat } from "../otlp/status.ts";
import { REQUESTS } from "./otlp-messages.ts";
import type { RedactDefinition } from "./redact-schema.ts";
import { withoutEscapes } from "./path-pattern.ts";
import { redactJson } from "./redact-json.ts";
import { redactProtobuf } from "./redact-protobuf.ts";
import type { Redacting } from "./redact-value.ts";
import { choosePlaces, type Places } from "./rules-at.ts";
import { compileRule, type RedactionRule } from "./redaction-rule.ts";

export interface RedactRequest {
  readonly body: Buffer;
  readonly format: WireFormat;
  readonly signal: keyof typeof REQUESTS;
  /** The `Tracing-Project` header; "" for none. */
  readonly project: string;
  /** The `X-Tenant-Id` header; "" for none. */
  readonly tenantId: string;
}

export interface Redactor {
  readonly rules: readonly RedactionRule[];
  /** Findings by the rule's index, since the start. */
  readonly counts: readonly number[];
  /** Yields between slices. Returns the same buffer when nothing changed. @throws {DecodeError} */
  readonly redact: (request: RedactRequest, report?: Redacting["report"]) => Generator<undefined, Buffer>;
}

export interface RedactorOptions {
  /** TRACING_PROJECT: the project of requests that name none. */
  readonly project: string;
  /** REDACT_HASH_KEY. */
  readonly hashKey: string | null;
}

/** @throws {Error} with the name of the rule and the reason. */
export function createRedactor(definitions: readonly RedactDefinition[], options: RedactorOptions): Redactor {
  const rules = definitions.map((definition, index) => compiled(definition, index, options.hashKey));
  const counts = rules.map(() => 0);
  let places: Places | null = null;
  return {
    rules,
    counts,
    *redact(request, report = null) {
      const applied = rules.filter((rule) => appliesTo(rule, request, options.project));
      if (applied.length === 0) return request.body;
      places = choosePlaces(places, applied);
      return yield* rewritten(request, { places, counts, report });
    },
  };
}

function compiled(definition: RedactDefinition, index: number, hashKey: string | null): RedactionRule {
  try {
    return compileRule(definition, index, hashKey);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown";
    throw new Error(`redact: the rule ${definition.name} has no valid regular expression: ${reason}`, { cause: error });
  }
}

function* rewritten({ body, format, signal }: RedactRequest, redacting: Redacting): Generator<undefined, Buffer> {
  if (format === "protobuf") return (yield* redactProtobuf(body, REQUESTS[signal], redacting)) ?? body;
  if (!isUtf8(body)) throw new DecodeError("the JSON is not valid UTF-8");
  return (yield* redactJson(skipMark(body), signal, redacting)) ?? body;
}

/**
 * Spans and resources can name projects as well. A request without the header counts for every project whose name is in
 * it, in any spelling of JSON: a rule may then do too much, never too little.
 */
function appliesTo({ projects, tenants }: RedactionRule, request: RedactRequest, standard: string): boolean {
  if (tenants !== null && !tenants.has(request.tenantId)) return false;
  if (projects === null) return true;
  if (request.project !== "") return projects.has(request.project);
  if (projects.has(standard) || [...projects].some((project) => request.body.includes(project))) return true;
  if (!request.body.includes("\\")) return false;
  const text = withoutEscapes(request.body.toString());
  return [...projects].some((project) => text.includes(withoutEscapes(JSON.stringify(project).slice(1, -1))));
}
