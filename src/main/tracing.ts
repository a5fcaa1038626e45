// Tracing of runs: on if a setting has the address for traces.
import type { Tracing } from "../agent/ports/ports.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log/log.ts";
import type { TelemetryConfig } from "../telemetry/settings.ts";
import type { Host } from "./host.ts";

/** In `dev`, people open the trace right after the run. */
export const DEV_TRACE_DELAY_MS = 100;

/** The collector of the same process. */
export interface OwnCollector {
  readonly address: string;
  /** The collector's token; null: none. */
  readonly token: string | null;
}

/** Null: no tracing, and nothing is loaded for it. @param own for `dev` */
export async function openTracing(
  { product }: Host,
  given: TelemetryConfig,
  log: Log,
  own: OwnCollector | null,
): Promise<(Tracing & Service) | null> {
  const { tracesAddress } = await import("../telemetry/settings.ts");
  const isElsewhere = given.otelEndpoint !== null || given.otelTracesEndpoint !== null;
  const config = own === null || isElsewhere ? given : sendingTo(own, given);
  const address = tracesAddress(config);
  if (address === null) return null;
  const { createTracing } = await import("../telemetry/tracing.ts");
  const captureContent = config.otelCaptureContent ?? own !== null;
  log.info("tracing", { address, content: captureContent });
  const delayMs = own === null ? null : DEV_TRACE_DELAY_MS;
  return createTracing(config, { address, captureContent, version: product.version, delayMs }, log);
}

function sendingTo({ address, token }: OwnCollector, config: TelemetryConfig): TelemetryConfig {
  const shown = token === null ? [] : [`authorization=${encodeURIComponent(`Bearer ${token}`)}`];
  const headers = [config.otelTracesHeaders, ...shown].filter((one) => one !== null);
  return { ...config, otelTracesEndpoint: address, otelTracesHeaders: headers.length === 0 ? null : headers.join(",") };
}
