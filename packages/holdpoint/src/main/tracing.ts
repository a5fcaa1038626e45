// Tracing of runs: on if a setting has the address for traces.
import type { Tracing } from "@holdpoint/server/ports/ports.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { TelemetryConfig } from "@holdpoint/server/telemetry/settings.ts";
import type { Host } from "./host.ts";

/** In `dev`, people open the trace right after the run. */
export const DEV_TRACE_DELAY_MS = 100;

/** The collector of the same process. */
export interface OwnCollector {
  readonly address: string;
  /** The collector's token; null: none. */
  readonly token: string | null;
}

/** Null: no tracing, and nothing is loaded for it. @param own for `dev` @throws {ConfigError} */
export async function openTracing(
  { env, product }: Host,
  config: TelemetryConfig,
  log: Log,
  own: OwnCollector | null,
): Promise<(Tracing & Service) | null> {
  const { readTracesAddress } = await import("@holdpoint/server/telemetry/settings.ts");
  const address = readTracesAddress(env, own?.address ?? null);
  if (address === null) return null;
  const { createTracing } = await import("@holdpoint/server/telemetry/tracing.ts");
  const captureContent = config.otelCaptureContent ?? own !== null;
  const headers: Record<string, string> =
    own === null || own.token === null || address !== own.address ? {} : { authorization: `Bearer ${own.token}` };
  const delayMs = own === null ? null : DEV_TRACE_DELAY_MS;
  log.info("tracing", { address, content: captureContent });
  return createTracing(env, { address, headers, captureContent, version: product.version, delayMs }, log);
}
