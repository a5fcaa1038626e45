// Tracing of runs: on when somebody says where the traces go.
import type { Tracing } from "../agent/ports.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log.ts";
import type { TelemetryConfig } from "../telemetry/settings.ts";
import type { Host } from "./host.ts";

/** Who tries things out looks at the trace right after the run. */
export const DEV_TRACE_DELAY_MS = 100;

/** Null: runs are not traced, and nothing is loaded for it. @param own the collector of this process, for `dev` */
export async function openTracing(
  { product }: Host,
  config: TelemetryConfig,
  log: Log,
  own: string | null,
): Promise<(Tracing & Service) | null> {
  const { tracesAddress } = await import("../telemetry/settings.ts");
  const isElsewhere = config.otelEndpoint !== null || config.otelTracesEndpoint !== null;
  const address = tracesAddress(own === null || isElsewhere ? config : { ...config, otelTracesEndpoint: own });
  if (address === null) return null;
  const { createTracing } = await import("../telemetry/tracing.ts");
  const captureContent = config.otelCaptureContent ?? own !== null;
  log.info("tracing", { address, content: captureContent });
  const delayMs = own === null ? null : DEV_TRACE_DELAY_MS;
  return createTracing(config, { address, captureContent, version: product.version, delayMs }, log);
}
