// Elicit ids: JSON-RPC ids of elicitation requests to clients of the 2025 revisions. The id names the interrupt, so
// that the reply answers it in whichever process it arrives.
import { isUuid } from "@holdpoint/base/ids.ts";

export interface ElicitPlace {
  readonly threadId: string;
  readonly interruptId: string;
}

const PREFIX = "elicit:";

/** @param round distinguishes repeated requests for one interrupt */
export function buildElicitId({ threadId, interruptId }: ElicitPlace, round: number): string {
  return `${PREFIX}${threadId}:${interruptId}:${round}`;
}

export function parseElicitPlace(id: unknown): ElicitPlace | null {
  if (typeof id !== "string" || !id.startsWith(PREFIX)) return null;
  const [threadId = "", interruptId = ""] = id.slice(PREFIX.length).split(":");
  return isUuid(threadId) && /^[0-9a-f]{32}$/.test(interruptId) ? { threadId, interruptId } : null;
}
