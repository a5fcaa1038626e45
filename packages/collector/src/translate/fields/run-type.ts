// Run type: the first rule that yields a known type decides; a value that no rule knows falls through to the next.
import type { Facts } from "../attributes/span-facts.ts";
import { textMember } from "../attributes/indexed.ts";
import { signs, sources, type Sources } from "../attributes/known-keys.ts";
import { toJson, worded } from "../attributes/plain-values.ts";
import {
  HAYSTACK_SPANS,
  HAYSTACK_TYPES,
  KINDS,
  type Names,
  OPENINFERENCE,
  OPERATIONS,
  OWN_TYPES,
  REQUEST_TYPES,
  TRACELOOP,
} from "../attributes/type-names.ts";
import type { SpanEventContent } from "../messages/span-events.ts";
import type { RunType } from "../../shared/trace-run.ts";

export interface TypedRun {
  readonly type: RunType;
  /** False without an explicit type: the usage of such a run is its own, not a sum over its children. */
  readonly declared: boolean;
}

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
  "agentops.span.kind",
  "mastra.span.type",
  "spring.ai.kind",
  "lmnr.span.type",
  "langwatch.span.type",
].map((name) => sources(name));
/** {"type": "llm", "name": …}. */
const BRAINTRUST = sources("braintrust.span_attributes");
const HAYSTACK_TYPE = sources("haystack.component.type");
const TOOL_NAME = signs("gen_ai.tool.name");
const TOOL_SIGNS = signs(
  "gen_ai.tool.call.id",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "ai.toolCall.name",
  "lk.function_tool.name",
  "spring.ai.tool.definition.name",
  "haystack.tool.name",
);
/** Signs of inference servers, whose spans may have no model. */
const SERVED = signs("gen_ai.latency.e2e", "gen_ai.latency.time_to_first_token");
const MCP_METHOD = sources("mcp.method.name");
const DATABASE = sources("db.system", "db.system.name");
const DATABASE_OPERATION = sources("db.operation.name", "db.operation");
const VECTOR_QUERY = signs(
  "db.vector.query.content",
  "db.vector.query.filter",
  "db.vector.query.top_k",
  "db.vector.query.response.documents",
);
const VECTOR_STORES: ReadonlySet<string> = new Set([
  "chroma",
  "chromadb",
  "lancedb",
  "marqo",
  "milvus",
  "pg_vector",
  "pgvector",
  "pinecone",
  "qdrant",
  "turbopuffer",
  "vespa",
  "weaviate",
]);
const TEMPLATE = sources("llm.prompt_template.variables");
const MODEL = signs("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id");
/** ADK writes "{}" on its other spans. */
const ADK_REQUEST = sources("gcp.vertex.agent.llm_request");
const EMPTY_JSON_CHARS = 2;
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
  "raw_input",
);

export function chooseRunType(facts: Facts, eventContent: SpanEventContent): TypedRun {
  const type = saidType(facts) ?? shownType(facts, eventContent);
  return type === undefined ? { type: "chain", declared: false } : { type, declared: true };
}

/** The type that the span names. An explicit operation wins over a tool's name, which chat spans carry too. */
function saidType(facts: Facts): RunType | undefined {
  return (
    typeNamed(facts, SPAN_KIND, OWN_TYPES) ??
    mcpType(facts) ??
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
  const name = worded(facts.peek(from)).toLowerCase();
  const type = name === "" ? undefined : known.get(name);
  if (type === name || from === OPERATION) facts.text(from);
  return type;
}

/** OpenLIT's and Spring AI's operations around model calls. */
const WRAPPERS: ReadonlySet<string> = new Set(["framework", "agent"]);

/** The type that its other attributes imply. */
function shownType(facts: Facts, eventContent: SpanEventContent): RunType | undefined {
  if (facts.has(TOOL_SIGNS)) return "tool";
  if (isVectorSearch(facts, eventContent)) return "retriever";
  if (WRAPPERS.has(facts.peek(OPERATION))) return "chain"; // their usage is a sum
  const hasModel = facts.has(MODEL);
  if (facts.has(TEMPLATE) && !hasModel) return "prompt";
  if (facts.has(HISTORY)) return "chain"; // an agent: its usage is a sum
  if (facts.has(SERVED)) return "llm";
  if (facts.peek(ADK_REQUEST).length > EMPTY_JSON_CHARS) return "llm";
  if (!hasModel) return undefined;
  const converses =
    facts.has(USAGE_OR_MESSAGES) ||
    eventContent.messages.length + eventContent.choices.length > 0 ||
    eventContent.prompt !== null ||
    eventContent.details.input !== null ||
    eventContent.details.output !== null ||
    facts.familySize("prompt") + facts.familySize("inputMessages") > 0;
  return converses ? "llm" : undefined;
}

/** Type of a span of MCP. Only one of its requests calls a tool. */
function mcpType(facts: Facts): RunType | undefined {
  const method = facts.peek(MCP_METHOD);
  if (method === "") return undefined;
  return method === "tools/call" ? "tool" : method === "prompts/get" ? "prompt" : "chain";
}

/** A query of a database for vectors: by its words, by the results, or by the database if it does not write. */
function isVectorSearch(facts: Facts, eventContent: SpanEventContent): boolean {
  if (eventContent.documents.length > 0 || facts.has(VECTOR_QUERY)) return true;
  return isVectorStore(facts) && !WRITES.test(facts.peek(DATABASE_OPERATION) || facts.span.name);
}

function isVectorStore(facts: Facts): boolean {
  return VECTOR_STORES.has(facts.peek(DATABASE).toLowerCase());
}

/** Also what it writes there. */
export function usesVectors(facts: Facts, eventContent: SpanEventContent): boolean {
  return isVectorStore(facts) || isVectorSearch(facts, eventContent);
}

const WRITES = /(?:^|[._\s])(?:add|upsert|insert|put|update|modify|delete|remove|create|drop|load)(?:$|[._\s])/i;

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
  if (facts.has(BRAINTRUST)) {
    const type = KINDS.get(textMember(toJson(facts.slotValue(BRAINTRUST.slots[0] ?? -1)), "type"));
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
