// Graph change: graph, assistant and config of a thread follow its runs. Pure.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Run, Thread } from "../model/model.ts";

/** Clients find threads by graph and assistant in the metadata, and read the config of the newest run. */
export function changeGraph(
  thread: Thread,
  { graphId, assistantId }: Pick<Run, "graphId" | "assistantId">,
  config: JsonObject,
): Partial<Thread> {
  const { metadata } = thread;
  const isCurrent = metadata["graph_id"] === graphId && metadata["assistant_id"] === assistantId;
  return {
    ...(isCurrent ? {} : { metadata: { ...metadata, graph_id: graphId, assistant_id: assistantId } }),
    ...(thread.graphId === graphId ? {} : { graphId }),
    ...(thread.assistantId === assistantId ? {} : { assistantId }),
    ...(isDeepStrictEqual(thread.config, config) ? {} : { config }),
  };
}
