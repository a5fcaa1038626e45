// Trace callbacks: LangChain's callbacks of a running graph → steps of the run's trace.
// Invariants:
//   - Only nodes, models and tools become steps: inner steps of others belong to the step around them.
//   - A node that interrupts has not failed: its step ends as a pause.
//   - Content is read only if the settings request it.
import type { RunTrace, StepEnd, TraceStep, TracedStep } from "../../ports/ports.ts";
import { describeError } from "@holdpoint/base/api-error.ts";

type Metadata = Readonly<Record<string, unknown>> | undefined;

interface Named {
  readonly name?: string;
  readonly id?: readonly string[];
}

interface Generation {
  readonly message?: TracedMessage;
  readonly text?: string;
}

/** The arguments of the library's callbacks, in its order. */
type ChainStart = [
  chain: unknown,
  inputs: unknown,
  id: string,
  parentId?: string,
  tags?: readonly string[],
  metadata?: Metadata,
  type?: string,
  name?: string,
];
type ToolStart = [
  tool: Named,
  input: string,
  id: string,
  parentId?: string,
  tags?: unknown,
  metadata?: unknown,
  name?: string,
  callId?: string,
];
type ModelStart<Input> = [
  model: Named,
  input: Input,
  id: string,
  parentId?: string,
  extra?: unknown,
  tags?: unknown,
  metadata?: Metadata,
];

interface StepTree {
  readonly run: RunTrace;
  /** A live value of the graph as JSON text. */
  readonly show: (value: unknown) => string;
  readonly steps: Map<string, TracedStep>;
  /** Ids in `steps` that stand for the step around them. */
  readonly passed: Set<string>;
}

/**
 * One of the `callbacks` of a graph call. A plain object: any copy of LangGraph accepts it.
 * @param show a live value of the graph as JSON text
 */
export function traceCallbacks(run: RunTrace, show: (value: unknown) => string): object {
  const tree: StepTree = { run, show, steps: new Map(), passed: new Set() };
  const fail = (error: unknown, id: string): void => failStep(tree, error, id);
  return {
    name: "holdpoint_trace",
    awaitHandlers: true, // steps begin and end in real time, not when a queue gets to them
    handleChainStart: (...call: ChainStart) => beginChain(tree, call),
    handleChainEnd: (outputs: unknown, id: string) => endStep(tree, id, { output: () => show(outputs) }),
    handleChainError: fail,
    handleToolStart: (...call: ToolStart) => beginTool(tree, call),
    handleToolEnd: (output: unknown, id: string) => endStep(tree, id, { output: () => toolResult(output) }),
    handleToolError: fail,
    handleChatModelStart: (...call: ModelStart<readonly (readonly TracedMessage[])[]>) =>
      beginModel(tree, call, ([messages = []]) => traceMessages(messages)),
    handleLLMStart: (...call: ModelStart<readonly string[]>) =>
      beginModel(tree, call, (prompts) => userMessage(prompts.join("\n"))),
    handleLLMEnd: (result: { readonly generations?: readonly (readonly Generation[])[] }, id: string) =>
      endStep(tree, id, modelEnd(result.generations?.[0]?.[0])),
    handleLLMError: fail,
  };
}

function beginStep(
  { steps, passed, run }: StepTree,
  id: string,
  parentId: string | undefined,
  step: TraceStep | null,
): void {
  const parent = steps.get(parentId ?? "") ?? run;
  steps.set(id, step === null ? parent : parent.step(step));
  if (step === null) passed.add(id);
}

function endStep({ steps, passed }: StepTree, id: string, how: StepEnd): void {
  const step = steps.get(id);
  steps.delete(id);
  if (!passed.delete(id) && step !== undefined) step.end(how);
}

function failStep(tree: StepTree, error: unknown, id: string): void {
  endStep(tree, id, isBubble(error) ? { state: "pause" } : { error: describeError(error) });
}

/** Only the chain that is the node itself becomes a step: its own chains have other names. */
function beginChain(tree: StepTree, [, inputs, id, parentId, tags = [], metadata, , name]: ChainStart): void {
  const superstep = tags.find((tag) => tag.startsWith("graph:step:"));
  const isNode = metadata?.["langgraph_node"] === name && !tags.includes("langsmith:hidden");
  if (superstep === undefined || !isNode || name === undefined) return beginStep(tree, id, parentId, null);
  const number = Number(superstep.slice("graph:step:".length));
  beginStep(tree, id, parentId, { kind: "node", name, superstep: number, input: () => tree.show(inputs) });
}

function beginTool(tree: StepTree, [tool, input, id, parentId, , , name, callId]: ToolStart): void {
  const step: TraceStep = {
    kind: "tool",
    name: name ?? tool.name ?? "tool",
    callId: callId ?? null,
    input: () => input,
  };
  beginStep(tree, id, parentId, step);
}

function beginModel<Input>(tree: StepTree, call: ModelStart<Input>, shown: (input: Input) => unknown): void {
  const [model, input, id, parentId, , , metadata] = call;
  beginStep(tree, id, parentId, {
    kind: "model",
    model: readTracedText(metadata?.["ls_model_name"]) ?? model.name ?? model.id?.at(-1) ?? "model",
    provider: readTracedText(metadata?.["ls_provider"]),
    temperature: readNumber(metadata?.["ls_temperature"]),
    tokensMax: readNumber(metadata?.["ls_max_tokens"]),
    input: () => shown(input),
  });
}

function modelEnd(generation: Generation | undefined): StepEnd {
  const message = generation?.message;
  const { usage_metadata: usage, response_metadata: response } = message ?? {};
  const model = readTracedText(response?.["model_name"] ?? response?.["model"]);
  const reason = readTracedText(response?.["finish_reason"] ?? response?.["stop_reason"]);
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

function readTracedText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function readNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

interface TracedMessage {
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly tool_call_id?: string;
  readonly usage_metadata?: { readonly input_tokens?: number; readonly output_tokens?: number };
  readonly response_metadata?: Readonly<Record<string, unknown>>;
  /** Absent in messages that are plain objects. */
  _getType?(): string;
}

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

/** LangChain's messages → those of OpenTelemetry's conventions, `{role, parts}`. */
function traceMessages(messages: readonly TracedMessage[]): unknown {
  return messages.map((message) => {
    const type = message._getType?.() ?? "user";
    return { role: ROLES[type] ?? type, parts: [...contentParts(message), ...callParts(message)] };
  });
}

function contentParts({ content, tool_call_id: callId }: TracedMessage): readonly unknown[] {
  if (callId !== undefined) return [{ type: "tool_call_response", id: callId, response: content }];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", content }];
  if (!Array.isArray(content)) return [];
  return content.map((part: unknown) => {
    const isText = typeof part === "object" && part !== null && "text" in part && typeof part.text === "string";
    return isText ? { type: "text", content: part.text } : part;
  });
}

function callParts({ tool_calls: calls = [] }: TracedMessage): readonly unknown[] {
  return calls.map(({ id, name, args }) => ({ type: "tool_call", id, name, arguments: args }));
}
