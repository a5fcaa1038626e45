// Agent card: an assistant as other agents see it.
// Invariants:
//   - A caller without credentials learns how to authenticate, and nothing else: the card is the same for every
//     assistant, also for one that does not exist.
import type { AgentCard, AgentExtension, AgentInterface, AgentSkill } from "@a2a-js/sdk";
import { duplicateInterfacesForLegacy } from "@a2a-js/sdk/compat/v0_3";
import type { Assistant } from "@holdpoint/api/schemas.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { ApiRefusal, type OwnApi } from "../../calls/own-api.ts";
import { type Authentication, buildSecurity } from "./security-schemes.ts";

/** Common members of a server's cards. */
export interface CardSource {
  readonly publicUrl: string;
  readonly version: string;
  readonly authentication: Authentication;
  /** Schemes of langgraph.json, in OpenAPI's form. */
  readonly securitySchemes: JsonObject;
}

/** Its data parts are described in docs/how-to/a2a.md. */
const QUESTIONS: AgentExtension = {
  uri: "urn:holdpoint:questions:1",
  description:
    "A task that requires input has one data part for each open question: interrupt_id, kind, title, value, form, people_only and link. An answer is a data part with interrupt_id, and the fields of the form or `resume`.",
  required: false,
  params: undefined,
};
const SCHEMAS = "urn:holdpoint:schemas:1";
const MODES = ["text/plain", "application/json"];
const INPUT_MODES = [...MODES, "image/*", "audio/*", "video/*", "application/*"];

/** @param name of the assistant in its address; null for the card that everybody may read */
export function agentCard(source: CardSource, name: string, assistant: Assistant | null): AgentCard {
  const title = assistant?.name ?? "Agent";
  const description =
    assistant === null
      ? "The card of this agent is for authenticated callers."
      : (assistant.description ?? `Runs the agent "${title}". A task may wait for the decision of a person.`);
  return {
    name: title,
    description,
    supportedInterfaces: duplicateInterfacesForLegacy([buildInterface(source, name)], ["JSONRPC"]),
    provider: undefined,
    version: assistant === null ? source.version : String(assistant.version),
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: [QUESTIONS],
    },
    ...buildSecurity(source.authentication, source.securitySchemes),
    defaultInputModes: readModes(assistant, "input_modes") ?? INPUT_MODES,
    defaultOutputModes: readModes(assistant, "output_modes") ?? MODES,
    skills: [buildSkill(title, description, assistant)],
    signatures: [],
  };
}

/** Media types that the assistant names in `metadata.a2a`. They only inform: the agent takes others too. */
function readModes(assistant: Assistant | null, name: "input_modes" | "output_modes"): string[] | null {
  const a2a = assistant?.metadata["a2a"];
  const given = isJsonObject(a2a) ? a2a[name] : undefined;
  const modes = Array.isArray(given) ? given.filter((mode) => typeof mode === "string") : [];
  return modes.length === 0 ? null : modes;
}

function buildInterface({ publicUrl }: CardSource, name: string): AgentInterface {
  return {
    url: `${publicUrl}/a2a/${encodeURIComponent(name)}`,
    protocolBinding: "JSONRPC",
    tenant: "",
    protocolVersion: "1.0",
  };
}

function buildSkill(name: string, description: string, assistant: Assistant | null): AgentSkill {
  return {
    id: assistant === null ? "agent" : assistant.graph_id,
    name,
    description,
    tags: assistant === null ? ["agent"] : ["agent", assistant.graph_id],
    examples: [],
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}

/** The card for authenticated callers: with the schemas of the graph. */
export async function extendedCard(
  api: OwnApi,
  source: CardSource,
  name: string,
  assistant: Assistant,
): Promise<AgentCard> {
  const card = agentCard(source, name, assistant);
  const schemas = await readSchemas(api, assistant.assistant_id);
  const { input_schema: input = null, output_schema: output = null } = schemas;
  const extension: AgentExtension = {
    uri: SCHEMAS,
    description: "JSON Schemas of the input, which data parts fill, and of the values in the result.",
    required: false,
    params: { input_schema: input, output_schema: output },
  };
  const extensions = [...(card.capabilities?.extensions ?? []), extension];
  return { ...card, capabilities: { ...card.capabilities, extensions } };
}

async function readSchemas(api: OwnApi, assistantId: string): Promise<JsonObject> {
  try {
    const schemas: Json = await api.call("GET", `/assistants/${assistantId}/schemas`);
    return isJsonObject(schemas) ? schemas : {};
  } catch (error) {
    if (error instanceof ApiRefusal) return {}; // a graph without readable types
    throw error;
  }
}

/** @throws {ApiRefusal} `assistant_not_found` */
export async function findAssistant(api: OwnApi, name: string): Promise<Assistant> {
  return (await api.call("GET", `/assistants/${encodeURIComponent(name)}`)) as unknown as Assistant;
}
