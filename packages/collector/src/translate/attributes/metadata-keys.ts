// Metadata keys: the attributes that become metadata, with their names there.
import { sources, type Sources } from "./known-keys.ts";

export const THREAD = sources(
  "gen_ai.conversation.id",
  "session.id",
  "gcp.vertex.agent.session_id",
  "ai.telemetry.metadata.sessionId",
  "ai.telemetry.metadata.threadId",
  "traceloop.association.properties.session_id",
  "traceloop.association.properties.thread_id",
  "traceloop.association.properties.chat_id",
  "langfuse.session.id",
  "ai.settings.context.sessionId",
  "ai.settings.context.threadId",
  "mastra.metadata.threadId",
  "mastra.metadata.sessionId",
  "spring.ai.chat.client.conversation.id",
  "lmnr.association.properties.session_id",
  "langwatch.thread.id",
);
export const THREAD_NAMES = ["thread_id", "session_id", "conversation_id"];
export const USER = sources(
  "user.id",
  "enduser.id",
  "ai.telemetry.metadata.userId",
  "traceloop.association.properties.user_id",
  "langfuse.user.id",
  "ai.settings.context.userId",
  "mastra.metadata.userId",
  "lmnr.association.properties.user_id",
  "langwatch.user.id",
);
export const METADATA_OBJECTS = [
  "metadata",
  "langfuse.observation.metadata",
  "langfuse.trace.metadata",
  "langfuse.metadata",
  "braintrust.metadata",
].map((name) => [sources(name), name] as const);

/** name in the metadata → attribute, copied as it is. */
export const COPIED: readonly (readonly [string, Sources])[] = [
  ["agent_id", sources("gen_ai.agent.id")],
  ["agent_name", sources("gen_ai.agent.name", "agent.name")],
  ["agent_description", sources("gen_ai.agent.description")],
  ["agent_version", sources("gen_ai.agent.version")],
  ["workflow_name", sources("gen_ai.workflow.name", "traceloop.workflow.name")],
  ["response_id", sources("gen_ai.response.id", "ai.response.id")],
  [
    "finish_reasons",
    sources(
      "gen_ai.response.finish_reasons",
      "ai.response.finishReason",
      "llm.response.finish_reason",
      "llm.response.stop_reason",
      "llm.finish_reason",
      "gen_ai.response.finish_reason",
      "stop_reason",
    ),
  ],
  ["operation", sources("gen_ai.operation.name")],
  ["data_source_id", sources("gen_ai.data_source.id")],
  ["server.address", sources("server.address")],
  ["server.port", sources("server.port")],
  ["error.type", sources("error.type")],
  ["evaluation_name", sources("gen_ai.evaluation.name")],
  ["evaluation_score", sources("gen_ai.evaluation.score.value")],
  ["evaluation_label", sources("gen_ai.evaluation.score.label")],
  ["evaluation_explanation", sources("gen_ai.evaluation.explanation")],
  ["prompt_name", sources("gen_ai.prompt.name", "langfuse.observation.prompt.name", "traceloop.prompt.key")],
  [
    "prompt_version",
    sources("gen_ai.prompt.version", "langfuse.observation.prompt.version", "traceloop.prompt.version"),
  ],
  ["environment", sources("langfuse.environment")],
  ["release", sources("langfuse.release")],
  ["memory_store_id", sources("gen_ai.memory.store.id")],
  ["memory_record_id", sources("gen_ai.memory.record.id")],
  ["memory_record_count", sources("gen_ai.memory.record.count")],
  ["component_type", sources("haystack.component.type")],
  ["mcp.method.name", sources("mcp.method.name")],
  ["mcp.session.id", sources("mcp.session.id")],
  ["mcp.protocol.version", sources("mcp.protocol.version")],
  ["mcp.resource.uri", sources("mcp.resource.uri")],
  ["jsonrpc.request.id", sources("jsonrpc.request.id")],
  ["jsonrpc.protocol.version", sources("jsonrpc.protocol.version")],
];

/** Members of a family that other rules read, as slots by name. */
function readElsewhere(prefix: string, ...names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name) => [name, sources(prefix + name).slots[0] ?? -1]));
}

export const NAMED_FAMILIES = (
  [
    [
      "metadata",
      "langsmith.metadata.",
      "ls_provider",
      "ls_model_name",
      "ls_model_type",
      "ls_run_name",
      "usage_metadata",
    ],
    ["association", "traceloop.association.properties."],
    ["telemetry", "ai.telemetry.metadata.", "tags", "ls_project_name", "ls_project_id"],
    ["context", "ai.settings.context."],
    ["observation", "langfuse.observation.metadata."],
    ["trace", "langfuse.trace.metadata."],
    ["langfuse", "langfuse.metadata."],
    ["mastra", "mastra.metadata."],
    ["laminar", "lmnr.association.properties.metadata."],
  ] as const
).map(([family, prefix, ...names]) => ({ family, prefix, elsewhere: readElsewhere(prefix, ...names) }));
