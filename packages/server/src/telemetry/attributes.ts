// Attributes: a step's data → the attributes of OpenTelemetry's conventions for generative AI.
// Invariants:
//   - Content is read only if the settings capture it.
//   - A span omits content longer than CONTENT_UNITS_MAX as a whole, and says so: half a JSON text is not JSON.
import type { Attributes } from "@opentelemetry/api";
import type { StepEnd, TraceStep } from "../ports/ports.ts";

const CONTENT_UNITS_MAX = 256 * 1024;

export function startAttributes(step: TraceStep, captureContent: boolean): Attributes {
  const content = (name: string, value: () => unknown): Attributes => (captureContent ? text(name, value) : {});
  switch (step.kind) {
    case "node":
      return {
        "langsmith.span.kind": "chain",
        "langgraph.node": step.name,
        "langgraph.step": step.superstep,
        ...content("input.value", step.input),
      };
    case "model":
      return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": step.model,
        ...(step.provider === null ? {} : { "gen_ai.provider.name": step.provider }),
        ...(step.temperature === null ? {} : { "gen_ai.request.temperature": step.temperature }),
        ...(step.tokensMax === null ? {} : { "gen_ai.request.max_tokens": step.tokensMax }),
        ...content("gen_ai.input.messages", step.input),
      };
    case "tool":
      return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step.name,
        "gen_ai.tool.type": "function",
        ...(step.callId === null ? {} : { "gen_ai.tool.call.id": step.callId }),
        ...content("gen_ai.tool.call.arguments", step.input),
      };
    default:
      return step satisfies never;
  }
}

const OUTPUT = {
  run: "output.value",
  node: "output.value",
  model: "gen_ai.output.messages",
  tool: "gen_ai.tool.call.result",
} as const;

export function endAttributes(end: StepEnd, kind: keyof typeof OUTPUT, captureContent: boolean): Attributes {
  return {
    ...(end.state === undefined ? {} : { "holdpoint.ended_by": end.state, "langsmith.metadata.ended_by": end.state }),
    ...(end.model === undefined ? {} : { "gen_ai.response.model": end.model }),
    ...(end.finishReason === undefined ? {} : { "gen_ai.response.finish_reasons": [end.finishReason] }),
    ...(end.tokens === undefined
      ? {}
      : { "gen_ai.usage.input_tokens": end.tokens.input, "gen_ai.usage.output_tokens": end.tokens.output }),
    ...(captureContent && end.output !== undefined ? text(OUTPUT[kind], end.output) : {}),
  };
}

/** Nothing for `undefined`. Text stays as it is. */
export function text(name: string, read: () => unknown): Attributes {
  let json: string | undefined;
  try {
    const value = read();
    json = typeof value === "string" ? value : JSON.stringify(value);
  } catch {
    return { "holdpoint.content_left_out": true }; // no JSON form
  }
  if (json === undefined) return {};
  return json.length > CONTENT_UNITS_MAX ? { "holdpoint.content_left_out": true } : { [name]: json };
}
