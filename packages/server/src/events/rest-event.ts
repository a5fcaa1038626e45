// REST event: a line of a run over the thread protocol, as a REST stream of that run shows it. Pure.
// Invariants:
//   - Updates, tasks, custom events and states of subgraphs have their REST form, with the id of the line.
//   - Messages, tools, lifecycle and checkpoints have none: a run streams messages in one form only.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { isProtocolLine, PROTOCOL_PREFIX, type ProtocolLine } from "../model/protocol-lines.ts";

/** The part of an event that a line stores. */
interface NamedText {
  readonly name: string;
  readonly text: string | null;
}

/** @returns null for a line that REST streams do not show; an event of a REST stream itself */
export function restEvent<E extends NamedText>(event: E): E | null {
  const { name, text } = event;
  if (!isProtocolLine(name)) return event;
  const mode = name.slice(PROTOCOL_PREFIX.length);
  if (text === null || !SHOWN.has(mode)) return null;
  const { namespace, data, note } = JSON.parse(text) as ProtocolLine & { readonly note?: unknown };
  if (note !== undefined) return null;
  const shown = buildPayload(mode, data as JsonObject);
  return { ...event, name: [mode, ...namespace].join("|"), text: JSON.stringify(shown) };
}

const SHOWN: ReadonlySet<string> = new Set(["updates", "tasks", "custom", "values"]);

function buildPayload(mode: string, data: JsonObject): unknown {
  const { node, values } = data;
  if (mode === "updates") return { [typeof node === "string" ? node : ""]: values };
  if (mode === "custom" && !("name" in data)) return data["payload"];
  return data;
}
