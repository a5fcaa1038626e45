// Outbox order: rows of one message, in the order in which their events happened.
import type { Webhook } from "../../model/model.ts";

export function inOrderOfCreation(rows: readonly Webhook[]): readonly Webhook[] {
  return rows.toSorted((one, other) => one.createdAt - other.createdAt || (one.runId < other.runId ? -1 : 1));
}
