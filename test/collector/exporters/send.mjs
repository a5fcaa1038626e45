// Send: a span, its log records and a counter, by the official exporters. argv: the transport. Address, key and
// compression come from the standard variables. Prints the span id, and a line for each failed export.
import { context, trace } from "@opentelemetry/api";
import { OTLPLogExporter as GrpcLogs } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as JsonLogs } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtobufLogs } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

const LOG_EXPORTERS = { grpc: GrpcLogs, json: JsonLogs, protobuf: ProtobufLogs };
const exporter = new LOG_EXPORTERS[process.argv[2]]();

/** Reports failures on standard output. */
function watched(one, name) {
  const send = one.export.bind(one);
  one.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0) console.log(`${name} failed: ${result.error?.message}`);
      done(result);
    });
  return one;
}

const tracers = new TracerProvider({
  spanProcessors: [new SimpleSpanProcessor({ exporter: watched(new OTLPTraceExporter(), "spans") })],
});
const loggers = new LoggerProvider({
  processors: [new SimpleLogRecordProcessor({ exporter: watched(exporter, "logs") })],
});
const reader = new PeriodicExportingMetricReader({ exporter: watched(new OTLPMetricExporter(), "metrics") });
const meters = new MeterProvider({ readers: [reader] });

const span = tracers.getTracer("sender").startSpan("chat gpt-5", {
  attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5" },
});
const at = trace.setSpan(context.active(), span);
const logger = loggers.getLogger("sender");
logger.emit({ eventName: "gen_ai.user.message", body: { content: "Weather in Paris?" }, context: at });
logger.emit({
  eventName: "gen_ai.choice",
  body: { index: 0, finish_reason: "stop", message: { role: "assistant", content: "Rain." } },
  context: at,
});
meters.getMeter("sender").createCounter("calls").add(1);
span.end();
console.log(span.spanContext().spanId);
await Promise.all([tracers.shutdown(), loggers.shutdown(), meters.shutdown()]);
