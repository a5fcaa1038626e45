// Slack Web API: the adapter of the port `SlackApi` over HTTPS.
// Invariants:
//   - The token goes to the configured API only, and no redirect is followed.
//   - A reply is read up to REPLY_BYTES_MAX.
import type { SlackApi, SlackMethod, SlackOutcome } from "@holdpoint/server/ports/ports.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";

/** These methods read forms only. */
const OF_FORMS: ReadonlySet<SlackMethod> = new Set<SlackMethod>(["auth.test", "users.info", "users.lookupByEmail"]);
/** Errors that pass, or that an operator removes without a new message. */
const PASSING = new Set([
  "account_inactive",
  "fatal_error",
  "internal_error",
  "invalid_auth",
  "missing_scope",
  "not_authed",
  "request_timeout",
  "service_unavailable",
  "team_added_to_org",
  "token_expired",
  "token_revoked",
]);
const REPLY_BYTES_MAX = 1024 * 1024;
const LIMITED_MS = 30_000;
const LIMITED_MS_MAX = 60 * 60_000;

export function createSlackWebApi(token: string, baseUrl: string): SlackApi {
  const base = new URL(baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
  return {
    host: base.host,
    async call(method, body, signal) {
      try {
        const isForm = OF_FORMS.has(method);
        const type = isForm ? "application/x-www-form-urlencoded" : "application/json; charset=utf-8";
        const response = await fetch(new URL(method, base), {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": type },
          body: isForm ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body),
          redirect: "error",
          signal,
        });
        return await readOutcome(response);
      } catch (error) {
        const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
        return { kind: "failed", reason: signal.aborted ? "no reply in time" : describeError(cause).message };
      }
    },
  };
}

async function readOutcome(response: Response): Promise<SlackOutcome> {
  if (response.status === 429) {
    await response.body?.cancel();
    const seconds = Number(response.headers.get("retry-after") ?? "");
    const afterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : LIMITED_MS;
    return { kind: "limited", afterMs: Math.min(afterMs, LIMITED_MS_MAX) };
  }
  const text = await readText(response);
  if (!response.ok) return { kind: "failed", reason: `status ${response.status}` };
  const body: unknown = JSON.parse(text);
  if (!isJsonObject(body)) return { kind: "failed", reason: "the reply is not an object" };
  return body["ok"] === true ? { kind: "ok", body } : readError(body);
}

function readError({ error, response_metadata: metadata }: JsonObject): SlackOutcome {
  const name = typeof error === "string" ? error : "unknown_error";
  if (name === "ratelimited" || name === "rate_limited") return { kind: "limited", afterMs: LIMITED_MS };
  const messages = isJsonObject(metadata) && Array.isArray(metadata["messages"]) ? metadata["messages"] : [];
  const reason = [name, ...messages.map(String)].join("; ");
  return { kind: PASSING.has(name) ? "failed" : "refused", reason };
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > REPLY_BYTES_MAX) throw new Error("the reply is too long");
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}
