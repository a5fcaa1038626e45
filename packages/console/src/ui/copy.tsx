// Copy: puts a text on the clipboard and reports it. Also offers an API call as a shell command.
import type { ReactNode } from "react";
import { buildUrl, type CallOptions, type Method } from "../api/client.ts";
import { apiKey } from "../api/credentials.ts";
import { Button, IconButton } from "./controls.tsx";
import { showToast } from "./toast.tsx";

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(`Copied ${what}.`);
  } catch {
    showToast(`The browser does not allow copying here. Copy this: ${text}`, { tone: "amber", ms: null });
  }
}

/** @param text a function for a text that is made only when it is copied */
export function CopyButton({
  text,
  what,
}: {
  readonly text: string | (() => string);
  readonly what: string;
}): ReactNode {
  const run = (): void => void copy(typeof text === "string" ? text : text(), what);
  return <IconButton icon="copy" label={`Copy ${what}`} onClick={run} />;
}

export interface CurlProps {
  readonly method: Method;
  readonly path: string;
  readonly query?: CallOptions["query"];
  readonly body?: unknown;
}

/** The shell command for the button beside it. */
export function CopyCurl({ method, path, query, body }: CurlProps): ReactNode {
  const run = (): void => {
    void copy(formatCurl(method, buildUrl(path, query), body, apiKey.get() !== null), "the curl command");
  };
  return (
    <Button kind="quiet" icon="terminal" onClick={run}>
      Copy as curl
    </Button>
  );
}

// A call as a shell command. Never contains a key.

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param withKey the server requires a key: the command reads it from a variable. */
function formatCurl(method: Method, url: string, body: unknown, withKey: boolean): string {
  const parts = ["curl", ...(method === "GET" || (method === "POST" && body !== undefined) ? [] : ["-X", method])];
  parts.push(quoted(url));
  if (withKey) parts.push("-H", '"x-api-key: $HOLDPOINT_API_KEY"');
  if (body !== undefined)
    parts.push("-H", quoted("content-type: application/json"), "-d", quoted(JSON.stringify(body)));
  return parts.join(" ");
}
