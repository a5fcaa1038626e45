// Event hydration: restores the text of events that refer to a state, for readers that come later.
// Invariants:
//   hydrate-events.1. An event whose state was rolled back or deleted is omitted, and its id stays unused. A state that
//     is not stored yet is rendered from memory.
import type { AgentContext } from "../../context/context.ts";
import { storedEnd, valuesAt, withText } from "../run-result.ts";
import { serializeRunEnd } from "../../wire/run-end.ts";
import { AT_END, type LoggedEvent } from "../../events/event-batch.ts";

interface RunKey {
  readonly threadId: string;
  readonly runId: string;
}

export async function withTexts(
  agent: AgentContext,
  run: RunKey,
  events: readonly LoggedEvent[],
): Promise<readonly LoggedEvent[]> {
  if (events.every(({ text }) => text !== null)) return events;
  const shown: LoggedEvent[] = [];
  for (const event of events) {
    const text = event.text ?? event.render?.() ?? (await findEventText(agent, run, event.reference ?? ""));
    if (text !== null) shown.push({ ...event, text }); // hydrate-events.1
  }
  return shown;
}

/** One transaction per event, so that one reader of a long log does not block other calls. */
async function findEventText(
  agent: AgentContext,
  { threadId, runId }: RunKey,
  reference: string,
): Promise<string | null> {
  const found = await agent.storage.read(async (tx) => {
    if (reference !== AT_END) return valuesAt(agent, tx, threadId, reference);
    const run = await tx.run(threadId, runId);
    return run === null ? null : storedEnd(agent, tx, run);
  });
  if (found === null) return null;
  return "run" in found ? serializeRunEnd(withText(found)) : found.text();
}
