// Curl: a call as a shell command. Never contains a key.
import type { Method } from "./client.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param withKey the server requires a key: the command reads it from a variable. */
export function formatCurl(method: Method, url: string, body: unknown, withKey: boolean): string {
  const parts = ["curl", ...(method === "GET" || (method === "POST" && body !== undefined) ? [] : ["-X", method])];
  parts.push(quoted(url));
  if (withKey) parts.push("-H", '"x-api-key: $HOLDPOINT_API_KEY"');
  if (body !== undefined)
    parts.push("-H", quoted("content-type: application/json"), "-d", quoted(JSON.stringify(body)));
  return parts.join(" ");
}
