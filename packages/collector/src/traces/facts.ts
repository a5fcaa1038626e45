// Facts: the columns for search and lists, read from a run's fields once, when it is stored.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export interface Facts {
  readonly model: string | null;
  readonly threadId: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars, as the sender calculated them, for the run or for all runs below it; null without a value. */
  readonly cost: number | null;
  /** Microseconds since 1970 of the first token. */
  readonly firstTokenAt: number | null;
  /** Scalar metadata, as text, for searches. */
  readonly metadata: readonly (readonly [key: string, value: string])[];
}

const METADATA_MAX = 64;
const KEY_UNITS_MAX = 200;
const VALUE_UNITS_MAX = 500;
/** Senders group the runs of a conversation under one of these; the first present one counts. */
const THREAD_KEYS = ["thread_id", "session_id", "conversation_id"];

/** The fields that facts come from; `main` holds the run's small members. */
export interface FactSources {
  readonly main: JsonObject;
  readonly extra: Json | undefined;
  readonly outputs: Json | undefined;
  readonly events: Json | undefined;
}

export function readFacts({ main, extra, outputs, events }: FactSources): Facts {
  const metadata = member(extra, "metadata");
  const usage = isJsonObject(metadata["usage_metadata"])
    ? metadata["usage_metadata"]
    : member(outputs, "usage_metadata");
  return {
    model: keepText(metadata["ls_model_name"]) ?? keepText(member(extra, "invocation_params")["model"]),
    threadId: THREAD_KEYS.map((key) => keepText(metadata[key])).find((id) => id !== null) ?? null,
    inputTokens: keepCount(usage["input_tokens"]),
    outputTokens: keepCount(usage["output_tokens"]),
    cost: costIn(usage) ?? costIn(main) ?? costIn(member(metadata, "aggregate_usage")),
    firstTokenAt: firstToken(events),
    metadata: scalars(metadata),
  };
}

function member(value: Json | undefined, name: string): JsonObject {
  const found = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(found) ? found : {};
}

function keepText(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, VALUE_UNITS_MAX) : null;
}

function keepCount(value: Json | undefined): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

/** The total, or the sum of the parts: senders of the backend's SDK may give only these. */
function costIn(usage: JsonObject): number | null {
  const [input, output] = [
    dollars(usage["input_cost"] ?? usage["prompt_cost"]),
    dollars(usage["output_cost"] ?? usage["completion_cost"]),
  ];
  const total = dollars(usage["total_cost"]);
  if (total !== null || (input === null && output === null)) return total;
  return (input ?? 0) + (output ?? 0);
}

/** The backend itself writes costs as decimal text. */
function dollars(value: Json | undefined): number | null {
  const given = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof given === "number" && Number.isFinite(given) && given >= 0 ? given : null;
}

function scalars(metadata: JsonObject): Facts["metadata"] {
  const found: [string, string][] = [];
  for (const [key, value] of Object.entries(metadata)) {
    if (found.length >= METADATA_MAX) break;
    if (value === null || typeof value === "object" || key.length > KEY_UNITS_MAX) continue;
    const written = String(value);
    if (written.length <= VALUE_UNITS_MAX) found.push([key, written]);
  }
  return found;
}

function firstToken(events: Json | undefined): number | null {
  if (!Array.isArray(events)) return null;
  const event = (events as readonly Json[]).find((one) => isJsonObject(one) && one["name"] === "new_token");
  return isJsonObject(event) ? microseconds(event["time"]) : null;
}

/** RFC 3339 text, or milliseconds since 1970 → microseconds since 1970. */
export function microseconds(value: Json | undefined): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? Math.round(value * 1000) : null;
  if (typeof value !== "string") return null;
  const ms = Date.parse(value.replace(/(\.\d{3})\d+/, "$1"));
  if (Number.isNaN(ms)) return null;
  const below = /\.\d{3}(\d{1,3})/.exec(value)?.[1] ?? "";
  return ms * 1000 + Number(below.padEnd(3, "0"));
}
