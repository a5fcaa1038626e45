// Trace callbacks: LangChain's callbacks of a running graph → steps of the run's trace.
// Invariants:
//   trace-callbacks.1. Only nodes, models and tools become steps: inner steps of others belong to the step around them.
//   trace-callbacks.2. A node that interrupts has not failed: its step ends as a pause.
//   trace-callbacks.3. Content is read only if the settings request it.
import type { RunTrace, StepEnd, TraceStep, TracedStep } from "../../agent/ports/ports.ts";
import { describeError } from "../../base/api-error.ts";
import { traceMessages, type TracedMessage } from "./trace-messages.ts";

type Metadata = Readonly<Record<string, unknown>> | undefined;

interface Named {
  readonly name?: string;
  readonly id?: readonly string[];
}

interface Generation {
  readonly message?: TracedMessage;
  readonly text?: string;
}

/**
 * One of the `callbacks` of a graph call. A plain object: any copy of LangGraph accepts it.
 * @param show a live value of the graph as JSON text
 */
export function traceCallbacks(run: RunTrace, show: (value: unknown) => string): object {
  const steps = new Map<string, TracedStep>();
  /** Ids in `steps` that stand for the step around them (trace-callbacks.1). */
  const passed = new Set<string>();
  const around = (parentId: string | undefined): TracedStep => steps.get(parentId ?? "") ?? run;
  const begin = (id: string, parentId: string | undefined, step: TraceStep | null): void => {
    const parent = around(parentId);
    steps.set(id, step === null ? parent : parent.step(step)); // trace-callbacks.1
    if (step === null) passed.add(id);
  };
  const end = (id: string, how: StepEnd): void => {
    const step = steps.get(id);
    steps.delete(id);
    if (!passed.delete(id) && step !== undefined) step.end(how);
  };
  const fail = (error: unknown, id: string): void =>
    end(id, isBubble(error) ? { state: "pause" } : { error: describeError(error) }); // trace-callbacks.2
  const beginModel = (llm: Named, input: () => unknown, id: string, parentId: string | undefined, meta: Metadata) =>
    begin(id, parentId, {
      kind: "model",
      model: textOf(meta?.["ls_model_name"]) ?? llm.name ?? llm.id?.at(-1) ?? "model",
      provider: textOf(meta?.["ls_provider"]),
      temperature: numberOf(meta?.["ls_temperature"]),
      tokensMax: numberOf(meta?.["ls_max_tokens"]),
      input,
    });
  return {
    name: "holdpoint_trace",
    awaitHandlers: true, // steps begin and end in real time, not when a queue gets to them
    handleChainStart(
      _chain: unknown,
      inputs: unknown,
      id: string,
      parentId?: string,
      tags: readonly string[] = [],
      meta?: Metadata,
      _type?: string,
      name?: string,
    ) {
      const superstep = tags.find((tag) => tag.startsWith("graph:step:"));
      const isNode = superstep !== undefined && meta?.["langgraph_node"] === name && !tags.includes("langsmith:hidden");
      begin(
        id,
        parentId,
        isNode && name !== undefined
          ? { kind: "node", name, superstep: Number(superstep.slice("graph:step:".length)), input: () => show(inputs) }
          : null,
      );
    },
    handleChainEnd: (outputs: unknown, id: string) => end(id, { output: () => show(outputs) }),
    handleChainError: fail,
    handleToolStart(
      tool: Named,
      input: string,
      id: string,
      parentId?: string,
      _tags?: unknown,
      _meta?: unknown,
      name?: string,
      callId?: string,
    ) {
      begin(id, parentId, {
        kind: "tool",
        name: name ?? tool.name ?? "tool",
        callId: callId ?? null,
        input: () => input,
      });
    },
    handleToolEnd: (output: unknown, id: string) => end(id, { output: () => toolResult(output) }),
    handleToolError: fail,
    handleChatModelStart(
      llm: Named,
      messages: readonly (readonly TracedMessage[])[],
      id: string,
      parentId?: string,
      _extra?: unknown,
      _tags?: unknown,
      meta?: Metadata,
    ) {
      beginModel(llm, () => traceMessages(messages[0] ?? []), id, parentId, meta);
    },
    handleLLMStart(
      llm: Named,
      prompts: readonly string[],
      id: string,
      parentId?: string,
      _extra?: unknown,
      _tags?: unknown,
      meta?: Metadata,
    ) {
      beginModel(llm, () => userMessage(prompts.join("\n")), id, parentId, meta);
    },
    handleLLMEnd: (result: { readonly generations?: readonly (readonly Generation[])[] }, id: string) =>
      end(id, modelEnd(result.generations?.[0]?.[0])),
    handleLLMError: fail,
  };
}

function modelEnd(generation: Generation | undefined): StepEnd {
  const message = generation?.message;
  const { usage_metadata: usage, response_metadata: response } = message ?? {};
  const model = textOf(response?.["model_name"] ?? response?.["model"]);
  const reason = textOf(response?.["finish_reason"] ?? response?.["stop_reason"]);
  return {
    ...(model === null ? {} : { model }),
    ...(reason === null ? {} : { finishReason: reason }),
    ...(usage === undefined ? {} : { tokens: { input: usage.input_tokens ?? 0, output: usage.output_tokens ?? 0 } }),
    output: () => (message === undefined ? generation?.text : traceMessages([message])),
  };
}

function userMessage(content: string): unknown {
  return [{ role: "user", parts: [{ type: "text", content }] }];
}

function toolResult(output: unknown): unknown {
  return typeof output === "object" && output !== null && "content" in output ? output.content : output;
}

/** LangGraph's exceptions for a node that did not fail: an interrupt, or a command for the parent graph. */
function isBubble(error: unknown): boolean {
  return typeof error === "object" && error !== null && "is_bubble_up" in error && error.is_bubble_up === true;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
