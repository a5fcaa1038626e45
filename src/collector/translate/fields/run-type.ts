// Run type: the first rule that yields a known type decides; a value that no rule knows falls through to the next.
import type { Facts } from "../attributes/span-facts.ts";
import { signs, sources, type Sources } from "../attributes/known-keys.ts";
import type { SpanTalk } from "../messages/span-events.ts";
import type { RunType } from "../../shared/trace-run.ts";

export interface TypedRun {
  readonly type: RunType;
  /** False without an explicit type: the usage of such a run is its own, not a sum over its children. */
  readonly declared: boolean;
}

type Names = ReadonlyMap<string, RunType>;

function names(table: Readonly<Partial<Record<RunType, readonly string[]>>>): Names {
  const map = new Map<string, RunType>();
  for (const [type, list] of Object.entries(table)) for (const name of list) map.set(name, type as RunType);
  return map;
}

const OWN_TYPES = names({
  tool: ["tool"],
  chain: ["chain"],
  llm: ["llm"],
  retriever: ["retriever"],
  embedding: ["embedding"],
  prompt: ["prompt"],
  parser: ["parser"],
});

const OPERATIONS = names({
  llm: [
    "chat",
    "completion",
    "acompletion",
    "text_completion",
    "atext_completion",
    "responses",
    "aresponses",
    "generate_content",
    "generate",
    "llm_request",
    "image",
    "image_generation",
    "aimage_generation",
    "audio",
    "speech",
    "aspeech",
    "transcription",
    "atranscription",
  ],
  embedding: ["embeddings", "embedding", "aembedding"],
  retriever: ["retrieval", "retrieve", "search_memory", "vector_db_retrieve", "vectordb", "rerank", "arerank"],
  tool: ["execute_tool"],
  chain: [
    "invoke_agent",
    "create_agent",
    "invoke_workflow",
    "plan",
    "execute_task",
    "agent_step",
    "create_memory",
    "update_memory",
    "upsert_memory",
    "delete_memory",
    "create_memory_store",
    "delete_memory_store",
    "workflow",
    "evaluate",
    "model_generation",
  ],
});

const OPENINFERENCE = names({
  llm: ["llm"],
  embedding: ["embedding"],
  retriever: ["retriever", "reranker"],
  tool: ["tool"],
  prompt: ["prompt"],
  chain: ["agent", "chain", "guardrail", "evaluator"],
});

const TRACELOOP = names({ tool: ["tool"], chain: ["workflow", "task", "agent"] });
const REQUEST_TYPES = names({
  llm: ["chat", "completion", "acompletion"],
  embedding: ["embedding", "aembedding"],
  retriever: ["rerank", "arerank"],
});

const KINDS = names({
  llm: [
    "model",
    "background-model",
    "llm_request",
    "generation",
    "chat_model",
    "llm",
    "model_generation",
    "model_inference",
  ],
  embedding: ["embedder", "embedding", "rag_embedding"],
  retriever: ["retriever", "reranker", "vector_store", "rag_vector_operation"],
  tool: ["tool", "tool.v2", "tool_call", "mcp_tool_call", "client_tool_call", "provider_tool_call"],
  chain: [
    "flow",
    "flowstep",
    "util",
    "agent",
    "chain",
    "span",
    "event",
    "evaluator",
    "guardrail",
    "parser",
    "interaction",
    "agent_run",
    "workflow_run",
    "workflow_step",
    "model_step",
    "model_chunk",
    "chat_client",
    "advisor",
  ],
});

const SPAN_KIND = sources("langsmith.span.kind");
const OPERATION = sources("gen_ai.operation.name");
const INFERENCE_KIND = sources("openinference.span.kind");
const AI_OPERATION = sources("ai.operationId", "operation.name");
const REQUEST_TYPE = sources("llm.request.type", "traceloop.llm.request.type");
const TRACELOOP_KIND = sources("traceloop.span.kind");
const FRAMEWORK_KINDS = [
  "genkit:metadata:subtype",
  "genkit:type",
  "span.type",
  "langfuse.observation.type",
  "mlflow.spanType",
  "mastra.span.type",
  "spring.ai.kind",
].map((name) => sources(name));
const HAYSTACK_TYPE = sources("haystack.component.type");
const HAYSTACK_TYPES: readonly (readonly [RegExp, RunType])[] = [
  [/generator$/i, "llm"],
  [/embedder$/i, "embedding"],
  [/(?:retriever|ranker)$/i, "retriever"],
  [/builder$/i, "prompt"],
  [/(?:converter|parser|validator)$/i, "parser"],
];
/** Spans without a component. */
const HAYSTACK_SPANS = names({
  llm: ["haystack.agent.step.llm"],
  tool: ["haystack.agent.step.tool"],
  chain: ["haystack.agent.run", "haystack.agent.step", "haystack.pipeline.run", "haystack.async_pipeline.run"],
});
const TOOL_NAME = signs("gen_ai.tool.name");
const TOOL_SIGNS = signs(
  "gen_ai.tool.call.id",
  "ai.toolCall.name",
  "lk.function_tool.name",
  "spring.ai.tool.definition.name",
  "haystack.tool.name",
);
const MCP_METHOD = sources("mcp.method.name");
const TEMPLATE = sources("llm.prompt_template.variables");
const MODEL = signs("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id");
const HISTORY = signs("pydantic_ai.all_messages", "all_messages_events", "final_result");
const USAGE_OR_MESSAGES = signs(
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.prompt_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.completion_tokens",
  "llm.token_count.prompt",
  "llm.token_count.completion",
  "ai.usage.inputTokens",
  "ai.usage.promptTokens",
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.prompt",
  "gen_ai.completion",
  "gcp.vertex.agent.llm_request",
  "gcp.vertex.agent.llm_response",
  "request_data",
  "response_data",
);

export function runTypeOf(facts: Facts, talk: SpanTalk): TypedRun {
  const type = saidType(facts) ?? shownType(facts, talk);
  return type === undefined ? { type: "chain", declared: false } : { type, declared: true };
}

/** The type that the span names. An explicit operation wins over a tool's name, which chat spans carry too. */
function saidType(facts: Facts): RunType | undefined {
  return (
    typeNamed(facts, SPAN_KIND, OWN_TYPES) ??
    typeNamed(facts, OPERATION, OPERATIONS) ??
    (facts.has(TOOL_NAME) ? "tool" : undefined) ??
    typeNamed(facts, INFERENCE_KIND, OPENINFERENCE) ??
    vercelType(facts) ??
    requestType(facts) ??
    typeNamed(facts, TRACELOOP_KIND, TRACELOOP) ??
    frameworkType(facts)
  );
}

/**
 * A kind counts as used only when the type expresses it: "AGENT" becomes a chain, and the word stays in the metadata.
 */
function typeNamed(facts: Facts, from: Sources, known: Names): RunType | undefined {
  const name = facts.peek(from).toLowerCase();
  const type = name === "" ? undefined : known.get(name);
  if (type === name || from === OPERATION) facts.text(from);
  return type;
}

/** OpenLIT's and Spring AI's operations around model calls. */
const WRAPPERS: ReadonlySet<string> = new Set(["framework", "agent"]);

/** The type that its other attributes imply. */
function shownType(facts: Facts, talk: SpanTalk): RunType | undefined {
  if (facts.has(TOOL_SIGNS) || facts.peek(MCP_METHOD) === "tools/call") return "tool";
  if (WRAPPERS.has(facts.peek(OPERATION))) return "chain"; // their usage is a sum
  const hasModel = facts.has(MODEL);
  if (facts.has(TEMPLATE) && !hasModel) return "prompt";
  if (facts.has(HISTORY)) return "chain"; // an agent: its usage is a sum
  if (!hasModel) return undefined;
  const talks =
    facts.has(USAGE_OR_MESSAGES) ||
    talk.messages.length + talk.choices.length > 0 ||
    talk.prompt !== null ||
    talk.details.input !== null ||
    talk.details.output !== null ||
    facts.familySize("prompt") + facts.familySize("inputMessages") > 0;
  return talks ? "llm" : undefined;
}

function requestType(facts: Facts): RunType | undefined {
  const type = facts.peek(REQUEST_TYPE).toLowerCase();
  if (type === "" || type === "unknown") return undefined;
  const known = REQUEST_TYPES.get(type);
  if (known !== undefined) facts.text(REQUEST_TYPE);
  return known ?? "llm";
}

function vercelType(facts: Facts): RunType | undefined {
  const operation = facts.peek(AI_OPERATION);
  if (!operation.startsWith("ai.")) return undefined;
  if (operation === facts.span.name) facts.text(AI_OPERATION); // the run has it as its name
  const name = operation.split(" ", 1)[0] ?? "";
  if (name === "ai.toolCall") return "tool";
  if (name.endsWith(".doEmbed")) return "embedding";
  if (name.endsWith(".doRerank")) return "retriever";
  return name.endsWith(".doGenerate") || name.endsWith(".doStream") ? "llm" : "chain";
}

function frameworkType(facts: Facts): RunType | undefined {
  for (const source of FRAMEWORK_KINDS) {
    const type = typeNamed(facts, source, KINDS);
    if (type !== undefined) return type;
  }
  const component = facts.peek(HAYSTACK_TYPE);
  if (component !== "") return HAYSTACK_TYPES.find(([pattern]) => pattern.test(component))?.[1] ?? "chain";
  const name = facts.span.name;
  if (name.startsWith("haystack.")) return HAYSTACK_SPANS.get(name);
  if (!name.startsWith("claude_code.")) return undefined;
  if (name === "claude_code.llm_request") return "llm";
  return name.startsWith("claude_code.tool") ? "tool" : "chain";
}
