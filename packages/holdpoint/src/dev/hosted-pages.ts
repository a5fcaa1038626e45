// Hosted pages: third-party pages that one start of `holdpoint dev` allows to call the server.
// Invariants:
//   - An allowed origin is a full name: no wildcard, no pattern, http or https.
import { CliError, EXIT } from "../cli/errors/cli-error.ts";

const STUDIO = "https://smith.langchain.com";

/** @param pages URLs of pages @throws {CliError} if one is not the URL of a page */
export function hostedOrigins(studio: boolean, pages: readonly string[]): readonly string[] {
  return [...(studio ? [STUDIO] : []), ...pages.map(parseOrigin)];
}

/** @param url of the agent server, with its prefix */
export function studioLink(url: string): string {
  return `${STUDIO}/studio/?baseUrl=${url}`;
}

function parseOrigin(page: string): string {
  const url = URL.canParse(page) ? new URL(page) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && !url.host.includes("*")) return url.origin;
  throw new CliError("--origin is not the address of a page, such as https://example.com", EXIT.usage);
}
