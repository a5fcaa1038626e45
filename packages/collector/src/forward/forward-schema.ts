// Forward schema: the destinations of `forward` in the rules file, and their secret headers (FORWARD_HEADERS).
import { z } from "zod";
import { RedactSchema } from "../redact/redact-schema.ts";
import { DropSchema } from "../sample/sample-schema.ts";

const DESTINATIONS_MAX = 16;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\x20-\x7e]{1,8192}$/;

const DestinationSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\w-]{1,64}$/, "has 1 to 64 letters, digits, or _ -")
    .describe("Appears in metrics and logs, and in FORWARD_HEADERS."),
  endpoint: z
    .url({
      protocol: /^https?$/,
      error: "is not an http or https URL. For OTLP over HTTP the port is usually 4318, for gRPC 4317",
    })
    .refine((url) => !URL.canParse(url) || new URL(url).username === "", {
      error: "has a user name in it: credentials go into FORWARD_HEADERS",
    })
    .describe("Base address of an OTLP receiver. Over HTTP, /v1/traces, /v1/logs and /v1/metrics follow it."),
  protocol: z.enum(["http", "grpc"]).default("http").describe("OTLP over HTTP or gRPC."),
  headers: z
    .record(z.string().regex(HEADER_NAME), z.string().regex(HEADER_VALUE))
    .default({})
    .describe("Headers without secrets. Secrets go into FORWARD_HEADERS."),
  signals: z
    .array(z.enum(["traces", "logs", "metrics"]))
    .min(1)
    .default(["traces", "logs", "metrics"]),
  timeout_ms: z.int().min(10).max(600_000).default(30_000),
  only: z.literal("gen_ai").optional().describe("Only spans and log records about generative AI."),
  drop: DropSchema.optional().describe("Spans and log records that this destination does not get."),
  sample: z
    .strictObject({ rate: z.number().min(0).max(1).describe("Part of all traces.") })
    .optional()
    .describe("Draws as `sample` of the file does: a smaller rate gets a part of what a larger one keeps."),
  projects: z.array(z.string().min(1)).min(1).max(200).optional().describe("Only items of these projects."),
  redact: RedactSchema.optional().describe("Rules after those of the file, for this destination."),
  normalize: z
    .literal("gen_ai")
    .optional()
    .describe("Spans about generative AI in the attributes of OpenTelemetry's GenAI conventions."),
});

export const ForwardSchema = z
  .array(DestinationSchema)
  .max(DESTINATIONS_MAX)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
    error: "has two destinations with the same name",
  });

export type Destination = z.infer<typeof DestinationSchema>;

/**
 * `NAME.HEADER=VALUE`, comma-separated, with values encoded as in URLs, like OTEL_EXPORTER_OTLP_HEADERS. Returns the
 * destinations with these headers. @throws {Error} with a reason that shows no value.
 */
export function withSecretHeaders(destinations: readonly Destination[], text: string | null): readonly Destination[] {
  const headers = new Map<string, Record<string, string>>();
  for (const pair of (text ?? "").split(",").filter((part) => part.trim() !== "")) {
    const found = /^\s*([\w-]+)\.([^=\s]+)\s*=(.*)$/.exec(pair);
    const [, destination = "", header = "", encoded = ""] = found ?? [];
    const value = decoded(encoded.trim());
    if (found === null || !HEADER_NAME.test(header) || value === null || !HEADER_VALUE.test(value))
      throw new Error("is not a list of DESTINATION.HEADER=VALUE, with values encoded as in URLs (not shown)");
    if (!destinations.some(({ name }) => name === destination))
      throw new Error(`names the destination ${destination}, which RULES_FILE does not have`);
    headers.set(destination, { ...headers.get(destination), [header]: value });
  }
  return destinations.map((one) => ({ ...one, headers: { ...one.headers, ...headers.get(one.name) } }));
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
