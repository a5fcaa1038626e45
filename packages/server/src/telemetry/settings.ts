// Settings of the agent server's own traces: the standard variables of OpenTelemetry. Its libraries read most of them;
// here are those that decide before a library loads, and those that the libraries leave to the program.
import { boolean, ConfigError, type Config, type Env } from "@holdpoint/base/config/config.ts";

export const TELEMETRY_SETTINGS = {
  otelCaptureContent: boolean("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", null, {
    meaning: "Puts messages, arguments, states and answers into spans. Default: true in `dev`, false elsewhere.",
  }),
} as const;

export type TelemetryConfig = Config<typeof TELEMETRY_SETTINGS>;

/** Secrets that OpenTelemetry's libraries read. */
export const TELEMETRY_SECRETS = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"] as const;

/** @param own without an address in the environment @returns null: no traces are sent @throws {ConfigError} */
export function readTracesAddress(env: Env, own: string | null): string | null {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return null;
  const name = isSet(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
    ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    : "OTEL_EXPORTER_OTLP_ENDPOINT";
  const address = env[name];
  if (!isSet(address)) return own;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new ConfigError([{ name, reason: "is not an http address" }]);
  return name === "OTEL_EXPORTER_OTLP_ENDPOINT" ? `${address.replace(/\/$/, "")}/v1/traces` : address;
}

/** @throws {ConfigError} for gRPC, which is the default of other exporters */
export function readProtocol(env: Env): "http/protobuf" | "http/json" {
  const name = isSet(env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"])
    ? "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
    : "OTEL_EXPORTER_OTLP_PROTOCOL";
  const protocol = env[name];
  if (!isSet(protocol) || protocol === "http/protobuf") return "http/protobuf";
  if (protocol === "http/json") return protocol;
  throw new ConfigError([{ name, reason: `"${protocol}" is neither http/protobuf nor http/json` }]);
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";
