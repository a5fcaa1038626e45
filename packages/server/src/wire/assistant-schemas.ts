// Schemas of an assistant's graph, as the API shows them.
import type { GraphSchemas } from "../ports/ports.ts";

export interface AssistantSchemas extends GraphSchemas {
  readonly graphId: string;
}
