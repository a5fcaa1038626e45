// Settings of the local trace store: its limits.
import { ENCRYPTION_SETTINGS } from "@holdpoint/base/config/encryption-settings.ts";
import { HOST_SETTINGS } from "@holdpoint/base/config/host-settings.ts";
import { DATA_SETTINGS, DATABASE_SETTINGS } from "@holdpoint/base/config/shared-settings.ts";
import { durationMs, integer, type Config } from "@holdpoint/base/config/config.ts";

const MIB = 1024 * 1024;

export const TRACE_SETTINGS = {
  tracePort: integer(
    "TRACES_PORT",
    4319,
    { min: 0, max: 65_535 },
    { meaning: "Port of the local trace store, on this machine only; 0 selects a free port." },
  ),
  ...HOST_SETTINGS,
  ...DATA_SETTINGS,
  ...DATABASE_SETTINGS,
  ...ENCRYPTION_SETTINGS,
  traceBytesMax: integer(
    "TRACES_MAX_BYTES",
    1024 * MIB,
    { min: MIB, max: 1024 * 1024 * MIB },
    {
      meaning:
        "Bytes that the local trace store keeps in its file; one trace has at most half of them, in PostgreSQL too.",
    },
  ),
  traceAgeMax: durationMs(
    "TRACES_MAX_AGE",
    7 * 24 * 3_600_000,
    { min: 60_000, max: 10 * 366 * 24 * 3_600_000 },
    {
      meaning:
        "Age since the last change after which the trace store deletes a trace; in PostgreSQL all traces of a day together.",
    },
  ),
} as const;

export type TraceConfig = Config<typeof TRACE_SETTINGS>;
