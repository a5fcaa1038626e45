import type { GraphSchemas } from "../ports/ports.ts";

export interface AssistantSchemas extends GraphSchemas {
  readonly graphId: string;
}
