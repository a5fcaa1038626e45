// Info: reads the limits and forms of a backend from its reply of /info.
import type { BodyEncoding } from "../../encode/batch-body.ts";
import type { BackendLimits } from "./port.ts";

/** Assumed by the backend's own SDKs when /info is silent. */
export const LIMITS_ASSUMED: BackendLimits = { runsMax: 100_000, bytesMax: 20_971_520, encoding: "zstd" };

/** null: not a valid reply of `/info`. */
export function readInfo(text: string): { readonly limits: BackendLimits; readonly multipart: boolean | null } | null {
  let info: unknown;
  try {
    info = JSON.parse(text);
  } catch {
    return null;
  }
  const ingest = toRecord(toRecord(info)["batch_ingest_config"]);
  const flags = toRecord(toRecord(info)["instance_flags"]);
  const positive = (value: unknown, assumed: number): number =>
    typeof value === "number" && Number.isFinite(value) && value >= 1 ? Math.floor(value) : assumed;
  const encoding: BodyEncoding =
    flags["zstd_compression_enabled"] !== false ? "zstd" : flags["gzip_body_enabled"] === true ? "gzip" : "identity";
  const runsMax = positive(ingest["size_limit"], LIMITS_ASSUMED.runsMax);
  const bytesMax = positive(ingest["size_limit_bytes"], LIMITS_ASSUMED.bytesMax);
  const named = ingest["use_multipart_endpoint"];
  return { limits: { runsMax, bytesMax, encoding }, multipart: typeof named === "boolean" ? named : null };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
