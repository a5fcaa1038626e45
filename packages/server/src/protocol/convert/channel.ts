// Channel: the channel of the thread protocol that an event belongs to.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { ProtocolMethod } from "../../model/protocol-lines.ts";

/** Path of a subgraph; empty at the root. */
export type Namespace = readonly string[];

/** A named custom event has a channel of its own: `custom:<name>`. */
export function nameChannel(method: ProtocolMethod, data: Json): string {
  if (method === "input.requested" || method === "input.answered") return "input";
  if (method !== "custom" || typeof data !== "object" || data === null || !("name" in data)) return method;
  const { name } = data;
  return typeof name === "string" ? `custom:${name}` : method;
}
