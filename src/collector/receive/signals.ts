// Signals: the paths of OTLP/HTTP. Spans and log records are stored; metrics and profiles
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

export function isStored(signal: OtlpSignal): signal is Signal {
  return signal === "traces" || signal === "logs";
}
