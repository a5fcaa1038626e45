// Assistant defaults: the two meanings of LANGGRAPH_CONFIG.
// Here it is the path of the file that names the graphs. In the reference server it is JSON, the defaults of the
// built-in assistants: `{"<graph>": {"configurable": …, "context": …}}`.
// Invariants:
//   assistant-defaults.1. Text that begins with `{` is JSON. The file is then the one of --config, or langgraph.json.
//   assistant-defaults.2. The JSON may stand in `env` of langgraph.json; that of the process wins.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export const GRAPH_CONFIG_FILE = "langgraph.json";

export interface AssistantDefaults {
  readonly config: JsonObject;
  readonly context: JsonObject;
}

/** Defaults by graph id. Ids of graphs that are not deployed have no effect. */
export type DefaultsByGraph = ReadonlyMap<string, AssistantDefaults>;

const isJsonText = (text: string): boolean => text.trimStart().startsWith("{");

export function graphConfigFile(text: string): string {
  return isJsonText(text) ? GRAPH_CONFIG_FILE : text;
}

/** assistant-defaults.2. @param inFile the variable as `env` of langgraph.json has it */
export function defaultsText(ofProcess: string, inFile: string | undefined): string {
  return inFile !== undefined && isJsonText(inFile) && !isJsonText(ofProcess) ? inFile : ofProcess;
}

/** @throws {Error} with the reason, if the text begins as JSON but does not have this shape */
export function assistantDefaults(text: string): DefaultsByGraph {
  if (!isJsonText(text)) return new Map();
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch {
    throw new Error("begins with { and is not valid JSON");
  }
  const graphs = isJsonObject(parsed) ? Object.entries(parsed) : [];
  return new Map(graphs.map(([graphId, given]) => [graphId, toDefaults(graphId, given)]));
}

function toDefaults(graphId: string, given: Json): AssistantDefaults {
  const { context = {}, ...config } = isJsonObject(given) ? given : { context: null };
  const { configurable = {} }: JsonObject = config;
  if (isJsonObject(context) && isJsonObject(configurable)) return { config, context };
  throw new Error(`"${graphId}" must be an object; its configurable and context, objects too`);
}
