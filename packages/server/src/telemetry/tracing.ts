// Tracing: trace events of runs → OpenTelemetry spans → an OTLP receiver. Adapter of the tracing port.
// The pieces:
//   run-trace.ts   the spans of one attempt of one run
//   attributes.ts  data of a step as attributes
//   settings.ts    the standard variables that decide before this loads
// Invariants:
//   - Loaded only with an address: a server without traces pays nothing.
//   - No failure here affects a run: it drops unsendable spans and logs that.
//   - It sets nothing global: providers of graphs stay theirs.
import { SpanKind, TraceFlags, type Context } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  type IdGenerator,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Tracing } from "../ports/ports.ts";
import type { Env } from "@holdpoint/base/config/config.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { beginRunTrace, type SpanIds } from "./run-trace.ts";
import { readProtocol } from "./settings.ts";

export interface TracingOptions {
  readonly address: string;
  /** Sent beside those of OTEL_EXPORTER_OTLP_HEADERS. */
  readonly headers: Readonly<Record<string, string>>;
  readonly captureContent: boolean;
  readonly version: string;
  /** Maximum delay before an export; null means the standard's default. */
  readonly delayMs: number | null;
}

/** OpenTelemetry's libraries read the other OTEL_ variables from the process. @throws {ConfigError} */
export function createTracing(env: Env, options: TracingOptions, log: Log): Tracing & Service {
  const ids = createIds();
  const root = createRootSampler(env);
  const isParentBased = !["always_on", "always_off", "traceidratio"].includes(env["OTEL_TRACES_SAMPLER"] ?? "");
  const own = resourceFromAttributes({ "service.name": "holdpoint", "service.version": options.version });
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: isParentBased ? new ParentBasedSampler({ root }) : root,
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(openExporter(env, options), log),
        ...(options.delayMs === null ? {} : { scheduledDelayMillis: options.delayMs }),
      }),
    ],
  });
  const tracer = provider.getTracer("holdpoint", options.version);
  /** A run follows the sampling decision of the first run of its trace, which derives from the trace id. */
  const chooseFlags = (traceId: string, context: Context): number => {
    const { decision } = root.shouldSample(context, traceId, "run", SpanKind.INTERNAL, {}, []);
    return decision === SamplingDecision.RECORD_AND_SAMPLED ? TraceFlags.SAMPLED : TraceFlags.NONE;
  };
  return {
    name: "tracing",
    begin: (run) => beginRunTrace(run, { tracer, ids, chooseFlags, captureContent: options.captureContent }),
    start: () => Promise.resolve(),
    stop: () => provider.shutdown().catch(() => undefined), // the exporter logs its failure
  };
}

function createRootSampler(env: Env): Sampler {
  const name = env["OTEL_TRACES_SAMPLER"] ?? "";
  if (name.endsWith("always_off")) return new AlwaysOffSampler();
  if (!name.endsWith("traceidratio")) return new AlwaysOnSampler();
  return new TraceIdRatioBasedSampler(Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? 1));
}

function openExporter(env: Env, { address: url, headers }: TracingOptions): SpanExporter {
  return readProtocol(env) === "http/json"
    ? new JsonExporter({ url, headers })
    : new ProtobufExporter({ url, headers });
}

/** Logs the first loss of spans, and the recovery after it. */
function reporting(exporter: SpanExporter, log: Log): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined; // its code is a const enum of another package
        if (failed && !failing)
          log.warning("traces_not_sent", { spans: spans.length, reason: result.error?.message ?? "no reason given" });
        if (!failed && failing) log.info("trace_export_resumed");
        failing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** Ids are random, except given ones: a run's derive from the run itself. */
function createIds(): IdGenerator & SpanIds {
  const random = new RandomIdGenerator();
  let next: { readonly traceId: string; readonly spanId: string } | null = null;
  return {
    use(given, begin) {
      next = given;
      try {
        return begin();
      } finally {
        next = null;
      }
    },
    generateTraceId: () => next?.traceId ?? random.generateTraceId(),
    generateSpanId: () => next?.spanId ?? random.generateSpanId(),
  };
}
