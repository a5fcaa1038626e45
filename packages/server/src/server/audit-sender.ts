// Audit sender: lines of the audit trail, to the destination of the settings. The operator chose it, so it may be private.
import { setting, ShownReason, type Setting } from "@holdpoint/base/config/config.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { guardedPost, resolveHost } from "@holdpoint/base/http/outbound/guarded-post.ts";

/** `place` is the path or the address, without credentials. */
export interface AuditDestination {
  readonly isFile: boolean;
  readonly place: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A path, or an address with credentials in front of its host. */
export function auditForwardSetting(name: string, meaning: string): Setting<AuditDestination | null> {
  const kind = { type: "path or address", fallback: null, limits: "/path, or http(s)://…" };
  return setting<AuditDestination | null>(name, kind, { meaning, secret: true }, parseDestination);
}

/** @throws {ShownReason} */
function parseDestination(text: string): AuditDestination {
  const given = text.trim();
  if (given.startsWith("/")) return { isFile: true, place: given, headers: {} };
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new ShownReason("is no absolute path and no http(s) address");
  const url = new URL(given);
  const { username, password } = url;
  url.username = "";
  url.password = "";
  if (username === "" && password === "") return { isFile: false, place: url.href, headers: {} };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { isFile: false, place: url.href, headers: { Authorization: authorization } };
}

const LIMITS = { timeoutMs: 9000, replyBytesMax: 64 * 1024 };
const ANYWHERE = {
  requireHttps: false,
  domains: null,
  ports: null,
  urlUnitsMax: 4096,
  networks: ["0.0.0.0/0", "::/0"],
};

export interface SenderPorts {
  /** Resolves once they are on disk. */
  readonly appendLines: (path: string, lines: string) => Promise<void>;
  readonly clock: Clock;
  readonly agent: string;
}

export function createAuditSender(
  { isFile, place, headers }: AuditDestination,
  { appendLines, clock, agent }: SenderPorts,
): (lines: string, signal: AbortSignal) => Promise<void> {
  if (isFile) return (lines) => appendLines(place, lines);
  const own = { "Content-Type": "application/x-ndjson", "User-Agent": agent, ...headers };
  return async (body, signal) => {
    const post = { url: place, headers: own, body };
    const outcome = await guardedPost(post, ANYWHERE, { ...LIMITS, signal }, { resolve: resolveHost, clock });
    if (outcome.kind !== "replied") throw new Error(outcome.reason);
    if (outcome.status < 200 || outcome.status > 299) throw new Error(`status ${outcome.status}`);
  };
}
