// Sample span: a model call as an OpenTelemetry SDK sends it, to try the path of a trace without an SDK.
import { ApiError } from "@holdpoint/base/api-error.ts";

const TIMEOUT_MS = 10_000;
const REPLY_UNITS_MAX = 500;
const DURATION_MS = 420;
const NANOS_IN_MS = 1_000_000n;

/**
 * @param url of the collector @param token the collector's token, or null
 * @returns the id of the trace in the senders' form (32 hex digits)
 * @throws {ApiError} `sample_refused`, with the collector's reply
 */
export async function sendSampleSpan(
  url: string,
  token: string | null,
  now: number,
  randomHex: (bytes: number) => string,
): Promise<string> {
  const traceId = randomHex(16);
  const response = await fetch(`${url}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(sampleExport(traceId, randomHex(8), now)),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) {
    const reply = (await response.text()).slice(0, REPLY_UNITS_MAX).toWellFormed();
    throw new ApiError("sample_refused", `The collector answered ${response.status}: ${reply}`);
  }
  return traceId;
}

function sampleExport(traceId: string, spanId: string, now: number): object {
  const nanos = (ms: number): string => String(BigInt(ms) * NANOS_IN_MS);
  const messages = (role: string, content: string): string =>
    JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
  const span = {
    traceId,
    spanId,
    name: "chat sample-model",
    kind: 3,
    startTimeUnixNano: nanos(now - DURATION_MS),
    endTimeUnixNano: nanos(now),
    attributes: [
      textAttribute("gen_ai.operation.name", "chat"),
      textAttribute("gen_ai.provider.name", "holdpoint"),
      textAttribute("gen_ai.request.model", "sample-model"),
      textAttribute("gen_ai.input.messages", messages("user", "Did this span arrive?")),
      textAttribute("gen_ai.output.messages", messages("assistant", "Yes: you are looking at it.")),
      integer("gen_ai.usage.input_tokens", 5),
      integer("gen_ai.usage.output_tokens", 8),
    ],
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: [textAttribute("service.name", "holdpoint sample")] },
        scopeSpans: [{ scope: { name: "holdpoint.sample" }, spans: [span] }],
      },
    ],
  };
}

const textAttribute = (key: string, value: string): object => ({ key, value: { stringValue: value } });
const integer = (key: string, value: number): object => ({ key, value: { intValue: String(value) } });
