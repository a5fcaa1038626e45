// Type names: the words with which senders say what a span is, by run type. Lower case.
import type { RunType } from "../../shared/trace-run.ts";

export type Names = ReadonlyMap<string, RunType>;

function names(table: Readonly<Partial<Record<RunType, readonly string[]>>>): Names {
  const map = new Map<string, RunType>();
  for (const [type, list] of Object.entries(table)) for (const name of list) map.set(name, type as RunType);
  return map;
}

export const OWN_TYPES = names({
  tool: ["tool"],
  chain: ["chain"],
  llm: ["llm"],
  retriever: ["retriever"],
  embedding: ["embedding"],
  prompt: ["prompt"],
  parser: ["parser"],
});

export const OPERATIONS = names({
  llm: [
    "chat",
    "chat.completions",
    "text.completions",
    "llm_call",
    "realtime",
    "fetch_response",
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
    "ai.generatespeech",
    "ai.transcribe",
    "ai.streamtranscribe",
    "ai.generateimage",
    "ai.generatevideo",
  ],
  embedding: ["embeddings", "embedding", "aembedding"],
  retriever: ["retrieval", "retrieve", "search_memory", "vector_db_retrieve", "vectordb", "rerank", "arerank"],
  tool: ["execute_tool", "tool_call"],
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

export const OPENINFERENCE = names({
  llm: ["llm"],
  embedding: ["embedding"],
  retriever: ["retriever", "reranker"],
  tool: ["tool"],
  prompt: ["prompt"],
  chain: ["agent", "chain", "guardrail", "evaluator"],
});

export const TRACELOOP = names({ tool: ["tool"], chain: ["workflow", "task", "agent"] });
export const REQUEST_TYPES = names({
  llm: ["chat", "completion", "acompletion"],
  embedding: ["embedding", "aembedding"],
  retriever: ["rerank", "arerank"],
});

export const KINDS = names({
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
  prompt: ["prompt", "executable-prompt"],
  embedding: ["embedder", "embedding", "rag_embedding"],
  retriever: ["retriever", "reranker", "vector_store", "rag_vector_operation", "rag"],
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
    "workflow",
    "task",
    "memory",
    "eval",
    "score",
    "session",
    "operation",
  ],
});

export const HAYSTACK_TYPES: readonly (readonly [RegExp, RunType])[] = [
  [/generator$/i, "llm"],
  [/embedder$/i, "embedding"],
  [/(?:retriever|ranker)$/i, "retriever"],
  [/builder$/i, "prompt"],
  [/(?:converter|parser|validator)$/i, "parser"],
];
/** Spans without a component. */
export const HAYSTACK_SPANS = names({
  llm: ["haystack.agent.step.llm"],
  tool: ["haystack.agent.step.tool"],
  chain: ["haystack.agent.run", "haystack.agent.step", "haystack.pipeline.run", "haystack.async_pipeline.run"],
});
