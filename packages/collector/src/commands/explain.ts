// Explain: `holdpoint collector explain` translates the spans of a file and names the destination of every attribute.
// The command sends nothing and stores nothing.
import { readFile } from "node:fs/promises";
import { decode, decompress } from "../receive/decode-body.ts";
import { skipMark } from "../otlp/byte-order-mark.ts";
import { DecodeError, type Decoded } from "../otlp/decoded.ts";
import type { Span } from "../otlp/span.ts";
import type { CollectorConfig } from "../service/settings.ts";
import { createExplainer } from "../translate/translate.ts";
import type { ExplainedAttribute } from "../translate/fields/destinations.ts";

export interface ExplainedSpan {
  readonly span: string;
  readonly span_id: string;
  /** null: FILTER_NON_GENAI removes the span. */
  readonly run: { readonly name: string; readonly run_type: string } | null;
  readonly attributes: readonly ExplainedAttribute[];
  readonly events: readonly ExplainedAttribute[];
}

const FILE_BYTES_MAX = 200 * 1024 * 1024;
const OPENING_BRACE = 0x7b;

/** @param path OTLP traces in JSON, JSON lines or protobuf, plain or gzipped. @throws {DecodeError} */
export async function explainFile(path: string, config: CollectorConfig): Promise<readonly ExplainedSpan[]> {
  const wire = await readFile(path);
  const limits = { bytesMax: FILE_BYTES_MAX, grow: () => true };
  const body = skipMark(wire[0] === 0x1f && wire[1] === 0x8b ? await decompress(wire, "gzip", limits) : wire);
  const explain = createExplainer({
    filterNonGenAi: config.filterNonGenai,
    project: config.project ?? "",
  });
  const context = { tenant: { id: "", apiKey: "", tenantId: "" }, project: "", receivedMs: 0 };
  const list: ExplainedSpan[] = [];
  for (const { spans } of await decodeSignals(body))
    for (const span of spans) {
      const { run, attributes } = explain(span, context);
      list.push({
        span: span.name,
        span_id: span.spanId,
        run: run.content === null ? null : { name: run.content.name, run_type: run.content.runType },
        attributes: run.content === null ? [] : attributes,
        events: run.content === null ? [] : listEvents(span, run.content.events),
      });
    }
  return list;
}

/** The file exporter of the OpenTelemetry Collector writes one request per line. */
async function decodeSignals(body: Buffer): Promise<readonly Decoded[]> {
  const first = body.find((byte) => byte > 0x20);
  if (first !== OPENING_BRACE) return [await decode(body, "protobuf", "traces")];
  try {
    return [await decode(body, "json", "traces")];
  } catch (error) {
    const lines = body
      .toString()
      .split("\n")
      .filter((line) => line.trim() !== "");
    if (!(error instanceof DecodeError) || lines.length < 2) throw error;
    const list: Decoded[] = [];
    for (const line of lines) list.push(await decode(Buffer.from(line), "json", "traces"));
    return list;
  }
}

function listEvents(span: Span, kept: string): readonly ExplainedAttribute[] {
  const names = new Set(kept === "" ? [] : (JSON.parse(kept) as { readonly name: string }[]).map(({ name }) => name));
  return [...new Set(span.events.map(({ name }) => name))].map((name) => {
    const fields = names.has(name) ? [...(name === "exception" ? ["error"] : []), "events"] : contentFields(span, name);
    return { attribute: name, fields };
  });
}

/** Fields of the keys of an operation details event; its other attributes are in the list of the span's own. */
const DETAILS: Readonly<Record<string, string>> = {
  "gen_ai.system_instructions": "inputs",
  "gen_ai.input.messages": "inputs",
  "gen_ai.output.messages": "outputs",
  "gen_ai.tool.definitions": "extra.invocation_params",
};
const ANSWERS: ReadonlySet<string> = new Set([
  "gen_ai.choice",
  "gen_ai.content.completion",
  "db.query.result",
  "db.search.result",
  "tool.output",
]);

function contentFields(span: Span, name: string): readonly string[] {
  if (name !== "gen_ai.client.inference.operation.details") return [ANSWERS.has(name) ? "outputs" : "inputs"];
  const keys = span.events.filter((event) => event.name === name).flatMap(({ attributes }) => attributes.keys);
  const fields = keys.flatMap((key) => (Object.hasOwn(DETAILS, key) ? (DETAILS[key] ?? []) : []));
  return fields.length === 0 ? ["the fields of its attributes"] : [...new Set(fields)];
}

/** One block per span. */
export function explainedText(spans: readonly ExplainedSpan[]): string {
  return spans.map(formatBlock).join("\n\n");
}

function formatBlock({ span, span_id, run, attributes, events }: ExplainedSpan): string {
  const head = run === null ? "removed by FILTER_NON_GENAI" : `${run.run_type} run "${run.name}"`;
  const lines = [...attributes, ...events.map((one) => ({ ...one, attribute: `event ${one.attribute}` }))];
  const width = Math.max(0, ...lines.map(({ attribute }) => attribute.length));
  return [
    `span "${span}" (${span_id}) -> ${head}`,
    ...lines.map(({ attribute, fields }) => `  ${attribute.padEnd(width)}  ${fields.join(", ")}`),
  ].join("\n");
}
