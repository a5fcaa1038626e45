// Settings of the terminal: which server it talks to, and as whom. An option of the same meaning wins.
import { setting, ShownReason, text, type Config } from "../base/config.ts";

/** A key that is no legal header value would be told, in full, by what refuses the header. */
function keyOf(value: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new ShownReason("is empty, or has spaces or other signs that a key cannot have");
}

export function serverUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error("is not an address: write http://host:port or https://host");
  if (url.username !== "" || url.password !== "") throw new Error("must not hold a user or a password");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

export const CLIENT_SETTINGS = {
  url: setting(
    "HOLDPOINT_URL",
    "url",
    "http://127.0.0.1:2024",
    "http or https",
    {
      meaning: "The agent server that the commands of the terminal talk to, with its prefix.",
      aliases: ["LANGGRAPH_API_URL"],
    },
    serverUrl,
  ),
  tracesUrl: setting(
    "HOLDPOINT_TRACES_URL",
    "url",
    "http://127.0.0.1:4319",
    "http or https",
    {
      meaning: "The trace store that `holdpoint trace` asks.",
    },
    serverUrl,
  ),
  apiKey: setting<string | null>(
    "HOLDPOINT_API_KEY",
    "text",
    null,
    "not empty, no spaces",
    {
      meaning: "The key that is sent as `x-api-key`. It is never shown.",
      aliases: ["LANGGRAPH_API_KEY"],
      secret: true,
    },
    keyOf,
  ),
  author: text("HOLDPOINT_USER", null, {
    meaning: "Who answers, for the audit trail of a server where nobody has to authenticate.",
  }),
} as const;

export type ClientConfig = Config<typeof CLIENT_SETTINGS>;
