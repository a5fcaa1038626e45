// Tracing: trace events of runs → OpenTelemetry spans → an OTLP receiver. Adapter of the tracing port.
// The pieces:
//   run-trace.ts   the spans of one attempt of one run
//   attributes.ts  data of a step as attributes
//   settings.ts    the standard variables
// Invariants:
//   tracing.1. Loaded only with an address: a server without traces pays nothing.
//   tracing.2. No failure here affects a run: it drops unsendable spans and logs that.
//   tracing.3. It sets nothing global: providers of graphs stay theirs.
import { SpanKind, TraceFlags, type Context } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
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
import type { Tracing } from "../agent/ports/ports.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log/log.ts";
import { beginRunTrace, type SpanIds } from "./run-trace.ts";
import { readHeaders, type TelemetryConfig } from "./settings.ts";

export interface TracingOptions {
  readonly address: string;
  readonly captureContent: boolean;
  readonly version: string;
  /** Maximum delay before an export; null means the standard's default. */
  readonly delayMs: number | null;
}

export function createTracing(config: TelemetryConfig, options: TracingOptions, log: Log): Tracing & Service {
  const ids = createIds();
  const root = rootSampler(config);
  const provider = new TracerProvider({
    resource: resourceFromAttributes(resourceOf(config, options.version)),
    sampler: config.otelSampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root,
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(openExporter(config, options.address), log),
        ...(options.delayMs === null ? {} : { scheduledDelayMillis: options.delayMs }),
      }),
    ],
  });
  const tracer = provider.getTracer("holdpoint", options.version);
  /** A run follows the sampling decision of the first run of its trace, which derives from the trace id. */
  const flagsOf = (traceId: string, context: Context): number => {
    const { decision } = root.shouldSample(context, traceId, "run", SpanKind.INTERNAL, {}, []);
    return decision === SamplingDecision.RECORD_AND_SAMPLED ? TraceFlags.SAMPLED : TraceFlags.NONE;
  };
  return {
    name: "tracing",
    begin: (run) => beginRunTrace(run, { tracer, ids, flagsOf, captureContent: options.captureContent }),
    start: () => Promise.resolve(),
    stop: () => provider.shutdown().catch(() => undefined), // tracing.2; the exporter logs its failure
  };
}

function resourceOf(config: TelemetryConfig, version: string): Record<string, string> {
  const given = config.otelResource === null ? {} : readHeaders(config.otelResource);
  return {
    "service.version": version,
    ...given,
    "service.name": config.otelServiceName ?? given["service.name"] ?? "holdpoint",
  };
}

function rootSampler({ otelSampler, otelSamplerArg }: TelemetryConfig): Sampler {
  if (otelSampler.endsWith("always_off")) return new AlwaysOffSampler();
  if (otelSampler.endsWith("always_on")) return new AlwaysOnSampler();
  return new TraceIdRatioBasedSampler(otelSamplerArg ?? 1);
}

function openExporter(config: TelemetryConfig, url: string): SpanExporter {
  const lists = [config.otelHeaders, config.otelTracesHeaders].filter((list) => list !== null);
  const headers = Object.assign({}, ...lists.map(readHeaders)) as Record<string, string>;
  const protocol = config.otelTracesProtocol ?? config.otelProtocol;
  return protocol === "http/json" ? new JsonExporter({ url, headers }) : new ProtobufExporter({ url, headers });
}

/** Logs the first loss of spans, and the recovery after it (tracing.2). */
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
