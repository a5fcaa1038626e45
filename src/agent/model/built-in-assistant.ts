import { isUuid, uuidV5 } from "../../base/ids.ts";

/** Namespace of the ids of built-in assistants: clients compute the same id from a graph's name. */
export const BUILT_IN_NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

export function builtInAssistantId(graphId: string): string {
  return uuidV5(graphId, BUILT_IN_NAMESPACE);
}

export function assistantIdOf(idOrGraph: string): string {
  return isUuid(idOrGraph) ? idOrGraph.toLowerCase() : builtInAssistantId(idOrGraph);
}
