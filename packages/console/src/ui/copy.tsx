// Copy: puts a text on the clipboard and reports it. Also offers an API call as a shell command.
import type { ReactNode } from "react";
import { formatCurl } from "../api/curl.ts";
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
