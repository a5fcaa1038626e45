// Problem: a refusal in RFC 9457 form, one shape for every status.
// Invariants:
//   problem-size.1. A problem has at most 1,024 bytes. A smaller one stays unchanged.
//   problem-size.2. Data available elsewhere goes first: the values and schemas of interrupts, then the ends of lists.
//        A shortened list has its full length in `<name>_count`; `see` names the source of the full data.
//   problem-size.3. The members that programs decide by (`code`, `thread_status`, `answered`, ids) stay.
import { randomUUID } from "node:crypto";
import { ApiError, describeError, ERROR_CODES } from "../../api-error.ts";
import type { Log } from "../../log/log.ts";
import { type Json, isJsonObject } from "../../json/json.ts";

export interface Problem {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function toProblem(thrown: unknown, log: Log): Problem {
  const error = toApiError(thrown, log);
  const text = JSON.stringify(problemObject(error));
  return { status: error.status, text, headers: { "Content-Type": "application/problem+json", ...error.headers } };
}

/** The members of a problem, also for one of several in a single reply. Human-readable members come first. */
export function problemObject({ code, status, message: text, extra }: ApiError): object {
  const [, title] = ERROR_CODES[code];
  const detail = shortText(text);
  return fitted({ title, detail, message: detail, type: `urn:holdpoint:error:${code}`, status, code }, extra);
}

/** Any error other than ApiError is a defect: the log has its details, the reply its code and the id of the log line. */
export function toApiError(thrown: unknown, log: Log): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const { name, message } = describeError(thrown);
  const faultId = randomUUID();
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  log.error("request_failed", { fault_id: faultId, name, message, stack });
  return new ApiError("internal_error", "Internal error; the server log has the details.", { fault_id: faultId });
}

// Limits the extra members of a problem, because clients print the whole body.

const BYTES_MAX = 1024;
const DETAIL_UNITS_MAX = 240;

type Members = Readonly<Record<string, unknown>>;

function shortText(text: string): string {
  return text.length <= DETAIL_UNITS_MAX ? text : `${text.slice(0, DETAIL_UNITS_MAX - 2).trimEnd()} …`;
}

/** @param head the members that come first, and stay */
function fitted(head: Members, extra: Members): Members {
  let whole = { ...head, ...extra };
  if (fits(whole)) return whole;
  const lists = Object.entries(extra).filter((entry): entry is [string, readonly Json[]] => Array.isArray(entry[1]));
  for (const [name, list] of lists) {
    whole = { ...whole, [name]: list.map(brief), [`${name}_count`]: list.length };
    if (fits(whole)) return whole;
  }
  for (const [name, list] of lists) {
    const kept = list.map(brief);
    while (kept.length > 0) {
      kept.length -= Math.max(1, Math.floor(kept.length / 4));
      whole = { ...whole, [name]: [...kept] };
      if (fits(whole)) return whole;
    }
  }
  const small = Object.entries(whole).filter(([name, value]) => name in head || JSON.stringify(value)?.length < 200);
  const rest = Object.fromEntries(small);
  return fits(rest) ? rest : head;
}

function fits(members: Members): boolean {
  return Buffer.byteLength(JSON.stringify(members)) <= BYTES_MAX;
}

/** The short form of a list member: the id of a question; place and message of a fault; a name. */
function brief(item: Json): Json {
  if (!isJsonObject(item)) return typeof item === "string" ? shortText(item) : item;
  if (typeof item["id"] === "string") return { id: item["id"] };
  const { path, message } = item;
  return typeof message === "string"
    ? { ...(typeof path === "string" ? { path: shortText(path) } : {}), message: shortText(message) }
    : item;
}
