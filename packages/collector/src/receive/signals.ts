// Signals: the paths of OTLP/HTTP and the methods of OTLP/gRPC. Spans and log records are stored; metrics and profiles
// are accepted, so that their senders report no error, and count as not stored.
import type { Signal } from "../otlp/decoded.ts";

export type OtlpSignal = Signal | "metrics" | "profiles";

const NAMES: readonly OtlpSignal[] = ["traces", "logs", "metrics"];

/** Exporters with a base address that has the path already double it; some append it to `/otel`. */
export const SIGNAL_OF_PATH: ReadonlyMap<string, OtlpSignal> = new Map([
  ...NAMES.flatMap((name) =>
    [`/v1/${name}`, `/v1/${name}/`, `/v1/${name}/v1/${name}`, `/otel/v1/${name}`].map((path) => [path, name] as const),
  ),
  ["/v1development/profiles", "profiles"],
]);

const SERVICES = "/opentelemetry.proto.collector";

export const SIGNAL_OF_METHOD: ReadonlyMap<string, OtlpSignal> = new Map([
  [`${SERVICES}.trace.v1.TraceService/Export`, "traces"],
  [`${SERVICES}.logs.v1.LogsService/Export`, "logs"],
  [`${SERVICES}.metrics.v1.MetricsService/Export`, "metrics"],
  [`${SERVICES}.profiles.v1development.ProfilesService/Export`, "profiles"],
]);

export function isStored(signal: OtlpSignal): signal is Signal {
  return signal === "traces" || signal === "logs";
}
