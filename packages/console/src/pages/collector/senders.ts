// Senders: configuration snippets for programs that send traces to this collector. Pure.
import type { About } from "../../api/about.ts";

export interface Sender {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** A required header, with a placeholder for secrets. */
type Header = readonly [name: string, value: string];

/** According to the configuration: none for a collector with a local store. */
export function headersFor(settings: About["settings"]): readonly Header[] {
  const isSet = (name: string): boolean => settings.some((one) => one.name === name && one.value !== "");
  return [
    ...(isSet("TRACING_ENDPOINT") && !isSet("TRACING_API_KEY")
      ? [["x-api-key", "<the key of your tracing backend>"] as const]
      : []),
    ...(isSet("INGEST_TOKEN") ? [["authorization", "Bearer <the ingest token>"] as const] : []),
  ];
}

/** @param url of the collector, without a path. */
export function listSenders(url: string, headers: readonly Header[]): readonly Sender[] {
  return [
    { id: "env", name: "Any SDK", text: environment(url, headers) },
    { id: "js", name: "JavaScript", text: javaScript(url, headers) },
    { id: "python", name: "Python", text: python(url, headers) },
    { id: "collector", name: "OpenTelemetry Collector", text: collector(url, headers) },
    { id: "curl", name: "curl", text: curl(url, headers) },
  ];
}

function environment(url: string, headers: readonly Header[]): string {
  const pairs = headers.map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${url}`,
    "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
    ...(pairs.length === 0 ? [] : [`export OTEL_EXPORTER_OTLP_HEADERS='${pairs.join(",")}'`]),
    "export OTEL_SERVICE_NAME=my-agent",
  ].join("\n");
}

function javaScript(url: string, headers: readonly Header[]): string {
  const given = headers.length === 0 ? "" : `, headers: ${JSON.stringify(Object.fromEntries(headers))}`;
  return [
    'import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";',
    'import { NodeSDK } from "@opentelemetry/sdk-node";',
    "",
    `const traceExporter = new OTLPTraceExporter({ url: "${url}/v1/traces"${given} });`,
    "new NodeSDK({ traceExporter }).start();",
  ].join("\n");
}

function python(url: string, headers: readonly Header[]): string {
  const given = headers.length === 0 ? "" : `, headers=${JSON.stringify(Object.fromEntries(headers))}`;
  return [
    "from opentelemetry import trace",
    "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter",
    "from opentelemetry.sdk.trace import TracerProvider",
    "from opentelemetry.sdk.trace.export import BatchSpanProcessor",
    "",
    "provider = TracerProvider()",
    `exporter = OTLPSpanExporter(endpoint="${url}/v1/traces"${given})`,
    "provider.add_span_processor(BatchSpanProcessor(exporter))",
    "trace.set_tracer_provider(provider)",
  ].join("\n");
}

function collector(url: string, headers: readonly Header[]): string {
  return [
    "exporters:",
    "  otlphttp/holdpoint:",
    `    endpoint: ${url}`,
    ...(headers.length === 0 ? [] : ["    headers:", ...headers.map(([name, value]) => `      ${name}: "${value}"`)]),
    "service:",
    "  pipelines:",
    "    traces:",
    "      exporters: [otlphttp/holdpoint]",
  ].join("\n");
}

function curl(url: string, headers: readonly Header[]): string {
  const span = '{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"hello"}';
  const given = headers.map(([name, value]) => ` -H '${name}: ${value}'`).join("");
  return `curl -s ${url}/v1/traces -H 'content-type: application/json'${given} -d '{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}'`;
}
