/** The graph of requests: it is part of the server, and in no list of graphs and assistants. */
export const REQUEST_GRAPH = "holdpoint-request";

import { isUuid, uuidV5 } from "@holdpoint/base/ids.ts";

/** UUID namespace of built-in assistants. Clients derive the same id from the graph name. */
export const BUILT_IN_NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

export function builtInAssistantId(graphId: string): string {
  return uuidV5(graphId, BUILT_IN_NAMESPACE);
}

export function toAssistantId(idOrGraph: string): string {
  return isUuid(idOrGraph) ? idOrGraph.toLowerCase() : builtInAssistantId(idOrGraph);
}
