// Model: provider, model and request parameters. Invariants:
//   - The priced model is the one that answered; the requested one stays in the invocation parameters.
//   - Attributes come first. A call whose attributes name no model has the one in its answer, or in its request.
//   - Only known provider names are normalised; the raw name stays in the metadata.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { signs, sources } from "../attributes/known-keys.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject, toJson, worded } from "../attributes/plain-values.ts";
import { spell } from "../attributes/spellings.ts";
import { haystackMeta } from "../messages/haystack.ts";
import type { RunType } from "../../shared/trace-run.ts";

const SDK_PROVIDER = sources("langsmith.metadata.ls_provider");
const PROVIDER = sources(
  "gen_ai.provider.name",
  "gen_ai.system",
  "llm.provider",
  "llm.system",
  "ai.model.provider",
  "mlflow.llm.provider",
);

/** Instrumentations' names → the names that the backend's price table uses. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["az", "azure"],
  ["az.ai.openai", "azure"],
  ["azure.ai.openai", "azure"],
  ["azure_openai", "azure"],
  ["azure-openai", "azure"],
  ["az.ai.inference", "azure"],
  ["azure.ai.inference", "azure"],
  ["gcp.vertex_ai", "google_vertexai"],
  ["gcp.vertex.agent", "google_vertexai"],
  ["vertex_ai", "google_vertexai"],
  ["vertexai", "google_vertexai"],
  ["google.vertex", "google_vertexai"],
  ["gcp.gemini", "google_genai"],
  ["gcp.gen_ai", "google_genai"],
  ["gemini", "google_genai"],
  ["google", "google_genai"],
  ["googleai", "google_genai"],
  ["google-ai", "google_genai"],
  ["google_ai", "google_genai"],
  ["google_genai", "google_genai"],
  ["google_vertexai", "google_vertexai"],
  ["google.generative-ai", "google_genai"],
  ["aws", "amazon_bedrock"],
  ["aws.bedrock", "amazon_bedrock"],
  ["aws_bedrock", "amazon_bedrock"],
  ["bedrock", "amazon_bedrock"],
  ["amazon-bedrock", "amazon_bedrock"],
  ["x_ai", "xai"],
  ["mistral_ai", "mistralai"],
  ["mistral", "mistralai"],
]);

/** As a prefix of a model. */
const PLAIN_PROVIDERS: ReadonlySet<string> = new Set([
  "anthropic",
  "azure",
  "cerebras",
  "cohere",
  "deepseek",
  "fireworks",
  "groq",
  "mistralai",
  "ollama",
  "openai",
  "perplexity",
  "together",
  "xai",
]);

export const MODEL = sources(
  "langsmith.metadata.ls_model_name",
  "gen_ai.response.model",
  "ai.response.model",
  "llm.response.model_name",
  "gen_ai.request.model",
  "ai.model.id",
  "llm.model_name",
  "llm.request.model_name",
  "embedding.model_name",
  "reranker.model_name",
  "langfuse.observation.model.name",
  "mlflow.llm.model",
  "model",
  "model_name",
);
const BRAINTRUST = sources("braintrust.metadata");
const GENKIT_SUBTYPE = sources("genkit:metadata:subtype");
const GENKIT_NAME = sources("genkit:name");
export const REQUEST_MODEL = sources(
  "gen_ai.request.model",
  "ai.model.id",
  "llm.request.model_name",
  "llm.model_name",
  "langfuse.observation.model.name",
  "gen_ai.response.model",
);
const MODEL_TYPE = sources("langsmith.metadata.ls_model_type");
export const OPERATION = sources("gen_ai.operation.name");
const REQUEST_TYPE = sources("llm.request.type");

export interface Model {
  readonly provider: string;
  /** "" when `provider` is the raw name. */
  readonly rawProvider: string;
  readonly name: string;
  /** In the request; "" when an attribute names a model. */
  readonly requested: string;
  readonly type: string;
}

/** Inputs and outputs of a run. */
export interface Bodies {
  readonly asked: JsonObject | null;
  readonly answered: JsonObject | null;
}

export function readModel(facts: Facts, runType: RunType, { answered, asked }: Bodies): Model {
  facts.enter("extra.metadata.ls_provider");
  const declared = facts.text(SDK_PROVIDER);
  const raw =
    declared || worded(facts.text(PROVIDER)) || (facts.span.name === "claude_code.llm_request" ? "anthropic" : "");
  const said = declared || nameProvider(raw); // the backend's own SDK uses the backend's names
  facts.enter("extra.metadata.ls_model_name");
  const named = worded(facts.text(MODEL)) || frameworkModel(facts);
  const isCall = named === "" && (runType === "llm" || runType === "embedding");
  const requested = isCall ? findModel(asked) || findModel(toJson(facts.peek(PARAMETERS))) : "";
  const { provider, name } = splitModel(said, named || (isCall ? findAnswering(answered) || requested : ""));
  const completes = facts.peek(OPERATION) === "text_completion" || facts.peek(REQUEST_TYPE) === "completion";
  const type = facts.text(MODEL_TYPE) || (runType === "llm" ? (completes ? "llm" : "chat") : "");
  return { provider, rawProvider: said === raw ? "" : raw, name, requested, type };
}

const IN_BODIES = spell("model", "model_name", "model_id", "model_version");
const AROUND = ["", ...spell("response_metadata", "llm_output"), "raw", "response"];
const PARAMETERS = signs("llm.invocation_parameters", "langfuse.observation.model.parameters", "model_config");

function findModel(body: Json): string {
  if (!isObject(body)) return "";
  const name = IN_BODIES.find((one) => textMember(body, one) !== "");
  return name === undefined ? "" : textMember(body, name);
}

/** Beside the answer, or beside its message. */
function findAnswering(answer: JsonObject | null): string {
  if (answer === null) return "";
  const { messages } = answer;
  const said = Array.isArray(messages) ? (messages as readonly Json[])[0] : undefined;
  for (const body of [answer, said])
    for (const name of AROUND) {
      const found = findModel((name === "" ? body : member(body, name)) ?? null);
      if (found !== "") return found;
    }
  return "";
}

/**
 * "googleai/gemini-2.5-flash" is provider and model, unless the span names another provider: names of gateways stay
 * whole, because their prices are.
 */
function splitModel(provider: string, name: string): { readonly provider: string; readonly name: string } {
  const ofGoogle = /^(?:projects\/.+\/|publishers\/.+\/)models\/([^/]+)$/.exec(name)?.[1]; // Vertex
  if (ofGoogle !== undefined) return { provider, name: ofGoogle };
  const slash = name.indexOf("/");
  if (slash <= 0) return { provider, name };
  const prefix = name.slice(0, slash).toLowerCase();
  const rest = name.slice(slash + 1);
  if (prefix === "models" && rest !== "") return { provider, name: rest }; // Gemini
  const known = PROVIDERS.get(prefix) ?? (PLAIN_PROVIDERS.has(prefix) ? prefix : undefined);
  if (known === undefined || rest === "" || (provider !== "" && provider !== known)) return { provider, name };
  return { provider: known, name: rest };
}

/** Names of models outside the attributes of models. */
function frameworkModel(facts: Facts): string {
  if (/^(?:background-)?model$|^embedder$|^reranker$/.test(facts.peek(GENKIT_SUBTYPE))) return facts.text(GENKIT_NAME);
  return textMember(haystackMeta(facts) ?? braintrustMetadata(facts) ?? undefined, "model");
}

/** Uses no attribute: the metadata carries it whole. */
function braintrustMetadata(facts: Facts): JsonObject | null {
  if (!facts.has(BRAINTRUST)) return null;
  const given = toJson(facts.slotValue(BRAINTRUST.slots[0] ?? -1));
  return isObject(given) ? given : null;
}

function nameProvider(raw: string): string {
  if (raw === "") return "";
  const name = raw.toLowerCase();
  const known = PROVIDERS.get(name);
  if (known !== undefined) return known;
  // The AI SDK writes provider and interface: `openai.chat`, `google.generative-ai`, `amazon-bedrock.chat`.
  for (let dot = name.lastIndexOf("."); dot > 0; dot = name.lastIndexOf(".", dot - 1)) {
    const outer = PROVIDERS.get(name.slice(0, dot));
    if (outer !== undefined) return outer;
  }
  return name.startsWith("gcp.") || name.startsWith("aws.") ? name : (name.split(".", 1)[0] ?? name);
}
