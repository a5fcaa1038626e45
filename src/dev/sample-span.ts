// Sample span: a model call as an OpenTelemetry SDK would send it, so that the way of a trace can be tried without one.

const TIMEOUT_MS = 10_000;
const DURATION_MS = 420;
const NANOS_IN_MS = 1_000_000n;

/**
 * @param url of the collector.
 * @returns the id of the trace as senders write it (32 hex digits).
 * @throws {Error} with the reply when the collector did not take it.
 */
export async function sendSampleSpan(url: string, now: number, randomHex: (bytes: number) => string): Promise<string> {
  const traceId = randomHex(16);
  const response = await fetch(`${url}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(sampleExport(traceId, randomHex(8), now)),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`the collector answered ${response.status}: ${await response.text()}`);
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
      text("gen_ai.operation.name", "chat"),
      text("gen_ai.provider.name", "holdpoint"),
      text("gen_ai.request.model", "sample-model"),
      text("gen_ai.input.messages", messages("user", "Did this span arrive?")),
      text("gen_ai.output.messages", messages("assistant", "It did: you are looking at it.")),
      integer("gen_ai.usage.input_tokens", 5),
      integer("gen_ai.usage.output_tokens", 8),
    ],
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: [text("service.name", "holdpoint sample")] },
        scopeSpans: [{ scope: { name: "holdpoint.sample" }, spans: [span] }],
      },
    ],
  };
}

const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });
const integer = (key: string, value: number): object => ({ key, value: { intValue: String(value) } });
