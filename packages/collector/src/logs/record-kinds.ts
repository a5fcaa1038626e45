// Record kinds: which log records the collector stores. Only events about generative AI reach the backend; the log
// lines of a program belong elsewhere, and count as not stored.
// Invariants:
//   - The kind depends on the record alone: a replay from the spool decides the same.
//   - A chunk of a stream has no content and no tokens of its own; it is not stored.
import type { LogRecord } from "../otlp/log-record.ts";
import type { AttributeValue } from "../otlp/span.ts";

/**
 * `event`: completes the span that it names. `operation`: the same, and describes a whole model call by itself.
 * `session`: written by a coding agent, which may have no spans. `other`: not stored.
 */
export type RecordKind = "event" | "operation" | "session" | "other";

const SESSION = /^(?:claude_code|codex|gemini_cli|qwen-code)\./;
const OPERATION = "gen_ai.client.inference.operation.details";
/** One per received chunk: `response.completed` has the tokens. */
const CHUNKS = /^codex\.(?:sse_event|websocket_event)$/;
const LAST_CHUNK = /^response\.(?:completed|failed|incomplete)$/;

export function classifyRecord(record: LogRecord): RecordKind {
  const name = findFullName(record);
  if (name.startsWith("gen_ai.")) {
    if (name === OPERATION) return "operation";
    return record.spanId === "" ? "other" : "event";
  }
  if (record.spanId !== "" && (name === "exception" || isExchange(record))) return "event";
  if (!SESSION.test(name)) return "other";
  if (CHUNKS.test(name) && !LAST_CHUNK.test(readRecordText(record, "event.kind"))) return "other";
  return record.spanId === "" && findSession(record) === "" ? "other" : "session";
}

/** Records of AWS's distribution (ADOT) and Bedrock AgentCore: named after the scope, with {input, output} as its body. */
export function isExchange({ body }: LogRecord): boolean {
  if (typeof body !== "object" || body === null || !("keys" in body)) return false;
  const names = body.keys as readonly string[];
  return names.length > 0 && names.every((name) => name === "input" || name === "output");
}

/** Claude Code has `user_prompt` as name, and `claude_code.user_prompt` as body. */
export function findFullName({ name, body }: LogRecord): string {
  if (typeof body !== "string" || body.length > 256 || !SESSION.test(body)) return name;
  return name === "" || body.endsWith(`.${name}`) ? body : name;
}

const SESSION_KEYS: readonly string[] = ["session.id", "conversation.id", "gen_ai.conversation.id"];

/** "" for none. */
export function findSession(record: LogRecord): string {
  for (const key of SESSION_KEYS) {
    const value = readRecordText(record, key);
    if (value !== "") return value;
  }
  return "";
}

export function readRecordText(record: LogRecord, key: string): string {
  const value = findValue(record, key);
  return typeof value === "string" ? value : "";
}

export function findValue({ attributes }: LogRecord, key: string): AttributeValue {
  return attributes.values[attributes.keys.lastIndexOf(key)] ?? null;
}
