// The variables that a container of ours reads.
import type { Setting } from "@holdpoint/base/config/config.ts";
import { collectorSettings } from "@holdpoint/collector/service/settings.ts";
import { TRACE_SETTINGS } from "@holdpoint/collector/traces/settings.ts";
import { AGENT_SETTINGS } from "@holdpoint/server/server/settings.ts";
import { TELEMETRY_SETTINGS } from "@holdpoint/server/telemetry/settings.ts";

const SETTINGS = new Set(
  [AGENT_SETTINGS, collectorSettings, TELEMETRY_SETTINGS, TRACE_SETTINGS].flatMap((table) =>
    Object.values<Setting<unknown>>(table).flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]),
  ),
).add("HEALTH_PORT"); // the image's own
/** OpenTelemetry's libraries read these. */
const STANDARD = /^OTEL_/;

export function isRead(variable: string): boolean {
  return SETTINGS.has(variable) || STANDARD.test(variable);
}
