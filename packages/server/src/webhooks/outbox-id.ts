// Outbox id: the id of an event in the outbox. It has the form of a run id, because the end of a run has the run's.
import { hash } from "node:crypto";

/** The same for the same name. */
export function outboxId(name: string): string {
  const hex = hash("sha256", name);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
