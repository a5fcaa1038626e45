// Settings of the agent server's own traces: the standard variables of OpenTelemetry.
import { boolean, choice, setting, text, type Config, type Setting } from "../base/config/config.ts";

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
type Protocol = (typeof PROTOCOLS)[number];

function protocolForTraces(name: string): Setting<Protocol | null> {
  const own = choice(name, "http/protobuf", PROTOCOLS, { meaning: "The same, for traces only; it takes precedence." });
  return { ...own, fallback: null, fallbackText: "none" };
}

/** `name=value,name=value`, values percent-encoded. */
function pairs(name: string, type: string, secret: boolean, meaning: string): Setting<string | null> {
  const limits = "name=value, comma-separated";
  return setting<string | null>(name, { type, fallback: null, limits }, { meaning, secret }, (value) => {
    readHeaders(value);
    return value;
  });
}

/** @throws {Error} without the value in it: headers are secrets */
export function readHeaders(list: string): Readonly<Record<string, string>> {
  const pairs = list.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair): [string, string] => {
      const [name = "", ...value] = pair.split("=");
      if (name.trim() === "" || value.length === 0) throw new Error("is not of the form name=value,name=value");
      return [name.trim(), decodeURIComponent(value.join("=").trim())];
    }),
  );
}

function httpAddress(one: Setting<string | null>): Setting<string | null> {
  return {
    ...one,
    parse(value) {
      if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) throw new Error("is not an http address");
      return value;
    },
  };
}

export const TELEMETRY_SETTINGS = {
  otelDisabled: boolean("OTEL_SDK_DISABLED", false, { meaning: "Disables traces, regardless of other settings." }),
  otelExporter: choice("OTEL_TRACES_EXPORTER", "otlp", ["otlp", "none"], {
    meaning: "`none` sends no traces.",
  }),
  otelEndpoint: httpAddress(
    text("OTEL_EXPORTER_OTLP_ENDPOINT", null, {
      meaning: "Base address of the receiver; `/v1/traces` is added. Without an address no traces are sent.",
    }),
  ),
  otelTracesEndpoint: httpAddress(
    text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", null, {
      meaning: "Address for traces, used unchanged; it takes precedence.",
    }),
  ),
  otelHeaders: pairs("OTEL_EXPORTER_OTLP_HEADERS", "headers", true, "Headers of the requests, such as a key."),
  otelTracesHeaders: pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "headers", true, "Further headers, for traces only."),
  otelProtocol: choice("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", PROTOCOLS, {
    meaning: "The transport of traces.",
  }),
  otelTracesProtocol: protocolForTraces("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
  otelServiceName: text("OTEL_SERVICE_NAME", null, {
    meaning:
      "Name of the server in its traces. Without it, `service.name` of OTEL_RESOURCE_ATTRIBUTES, or `holdpoint`.",
  }),
  otelResource: pairs("OTEL_RESOURCE_ATTRIBUTES", "attributes", false, "Other attributes of the server in its traces."),
  otelSampler: choice(
    "OTEL_TRACES_SAMPLER",
    "parentbased_always_on",
    [
      "always_on",
      "always_off",
      "traceidratio",
      "parentbased_always_on",
      "parentbased_always_off",
      "parentbased_traceidratio",
    ],
    { meaning: "Selects the runs to trace. A run that continues a pause is traced if the paused run was." },
  ),
  otelSamplerArg: setting<number | null>(
    "OTEL_TRACES_SAMPLER_ARG",
    { type: "number", fallback: null, limits: "0 to 1" },
    { meaning: "The share of traces, for the samplers with a ratio." },
    (value) => {
      const ratio = Number(value);
      if (!(ratio >= 0 && ratio <= 1)) throw new Error(`"${value}" is not between 0 and 1`);
      return ratio;
    },
  ),
  otelCaptureContent: boolean("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", null, {
    meaning: "Puts messages, arguments, states and answers into spans. Default: true in `dev`, false elsewhere.",
  }),
} as const;

export type TelemetryConfig = Config<typeof TELEMETRY_SETTINGS>;

/** Null: tracing is off. */
export function tracesAddress(config: TelemetryConfig): string | null {
  if (config.otelDisabled || config.otelExporter === "none") return null;
  if (config.otelTracesEndpoint !== null) return config.otelTracesEndpoint;
  return config.otelEndpoint === null ? null : `${config.otelEndpoint.replace(/\/$/, "")}/v1/traces`;
}
