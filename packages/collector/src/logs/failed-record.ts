// Failed record: which log records report a failure, for the run that they become and for sampling.
// Sources of the rules of Codex: `codex-rs/otel` of Codex 0.154. Its events have no field for the outcome but the kind
// of the last chunk, the HTTP status and the message of the error; only tools have `success`.
import type { LogRecord } from "../otlp/log-record.ts";
import type { AttributeValue } from "../otlp/span.ts";
import { sayFailed } from "../sample/failed-item.ts";
import { findFullName, classifyRecord, readRecordText, findValue } from "./record-kinds.ts";
import { findRule } from "./session-rules.ts";

const CODEX = "codex.";
const FAILED_KIND = /^response\.(?:failed|incomplete)$/;
const FAILED_STATUS = 400;
const ERROR_TEXTS = ["error.message", "error_message", "error", "output"] as const;

/** Failure of an event of a session. null: it reports a success. */
export function findFailure(record: LogRecord): string | null {
  const name = findFullName(record);
  const codex = name.startsWith(CODEX) ? findCodexFailure(record) : null;
  const isFailed = findRule(name).failed === true || isFalse(findValue(record, "success")) || codex !== null;
  if (!isFailed) return null;
  for (const key of ERROR_TEXTS) {
    const text = readRecordText(record, key);
    if (text !== "") return text;
  }
  return codex ?? "error";
}

function findCodexFailure(record: LogRecord): string | null {
  const kind = readRecordText(record, "event.kind");
  if (FAILED_KIND.test(kind)) return kind;
  const message = readRecordText(record, "error.message");
  if (message !== "") return message;
  const status = findValue(record, "http.response.status_code");
  const code = typeof status === "number" || typeof status === "string" ? Number(status) : 0;
  return code >= FAILED_STATUS ? `HTTP status ${code}` : null;
}

function isFalse(value: AttributeValue): boolean {
  return value === false || value === "false";
}

/** The run that the record becomes, or completes, has an error. */
export function isFailedRecord(record: LogRecord): boolean {
  const kind = classifyRecord(record);
  if (kind === "session" && findFailure(record) !== null) return true;
  return (kind === "session" || kind === "operation") && sayFailed(record.attributes);
}
