// CLI settings: the server to call and the credentials. An option with the same meaning takes precedence.
import { setting, ShownReason, type Config } from "@holdpoint/base/config/config.ts";

/** Headers rejects an invalid value with an error that contains the whole key: check it before. */
function readKey(value: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new ShownReason("is empty or contains spaces or other invalid characters");
}

export function serverUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error("is not a URL: write http://host:port or https://host");
  if (url.username !== "" || url.password !== "") throw new Error("must not contain a user or a password");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

export const CLIENT_SETTINGS = {
  url: setting<string | null>(
    "HOLDPOINT_URL",
    { type: "url", fallback: null, limits: "http or https" },
    {
      meaning:
        "Address of the agent server that commands call, with its prefix. Default: the server that runs on the data folder.",
      aliases: ["LANGGRAPH_API_URL"],
    },
    serverUrl,
  ),
  apiKey: setting<string | null>(
    "HOLDPOINT_API_KEY",
    { type: "text", fallback: null, limits: "not empty, no spaces" },
    {
      meaning: "API key, sent as `x-api-key`. Never shown.",
      aliases: ["LANGGRAPH_API_KEY"],
      secret: true,
    },
    readKey,
  ),
} as const;

export type ClientConfig = Config<typeof CLIENT_SETTINGS>;
