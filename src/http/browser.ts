// Browser: requests that a browser may have sent for a page of somebody else. Pure checks of a request's head.
// Invariants:
//   BR1. On loopback the Host header names this machine, or a host that the operator names: a foreign name that resolves
//        to this machine is an attack (DNS rebinding). Beyond loopback, a list of the operator's is kept in the same way;
//        IP addresses pass there, because only names can be rebound.
//   BR2. A request has one Host header, and it holds a host and a port, nothing else.
//   BR3. A request that changes something and comes from another site needs an allowed origin, with a body or without.
//        Sec-Fetch-Site decides; a browser that does not send it sends Origin.
import { isIP } from "node:net";
import type { IncomingMessage } from "node:http";
import { ApiError } from "../base/errors.ts";

export interface HostRules {
  /** The server listens on loopback only. */
  readonly loopback: boolean;
  /** Names that the operator allows; `*.example.com` stands for every name below it. Null: no list. */
  readonly allowed: readonly string[] | null;
}

const LOOPBACK_HOST = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const HOST = /^(?<name>\[[\da-f:.]{2,45}\]|[\w.-]{1,255})(:\d{1,5})?$/i;

export function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** @throws {ApiError} `malformed_request` (BR2), `forbidden_host` (BR1) */
export function checkHost({ headers, rawHeaders }: HostHead, rules: HostRules): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  const { host } = headers;
  const name = host === undefined ? undefined : HOST.exec(host)?.groups?.["name"]?.toLowerCase();
  if (hosts > 1 || (host !== undefined && name === undefined)) {
    const detail = hosts > 1 ? "There is more than one Host header." : "The Host header is not a host with a port.";
    throw new ApiError("malformed_request", detail, {}, { Connection: "close" });
  }
  if (isServed(host, name, rules)) return;
  const detail = rules.loopback
    ? "This server listens on loopback and answers to localhost; ALLOWED_HOSTS can name further hosts."
    : "The Host header names a host that is not in ALLOWED_HOSTS.";
  throw new ApiError("forbidden_host", detail);
}

type HostHead = Pick<IncomingMessage, "headers" | "rawHeaders">;

function isServed(host: string | undefined, name: string | undefined, { loopback, allowed }: HostRules): boolean {
  if (!loopback && allowed === null) return true;
  if (host === undefined || name === undefined) return false;
  if (LOOPBACK_HOST.test(host)) return true;
  if (!loopback && isIP(name.replace(/^\[|\]$/g, "")) !== 0) return true;
  return (allowed ?? []).some((one) => (one.startsWith("*.") ? name.endsWith(one.slice(1)) : name === one));
}

type SiteHead = Pick<IncomingMessage, "method" | "headers">;

/** Whether a page on another origin had the request sent, as far as its browser says (BR3). */
function isFromElsewhere({ headers }: SiteHead): boolean {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  return origin !== undefined && origin.replace(/^https?:\/\//, "") !== host;
}

/** BR3. @throws {ApiError} `forbidden_origin` */
export function checkSite(request: SiteHead, isAllowed: (origin: string | undefined) => boolean, remedy: string): void {
  const { method, headers } = request;
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  if (!isFromElsewhere(request) || isAllowed(headers.origin)) return;
  throw new ApiError("forbidden_origin", `Pages of other sites may not call this; ${remedy}.`);
}
