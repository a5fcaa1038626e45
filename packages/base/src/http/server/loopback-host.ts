// Browser checks: the Host header and the origin of a request. Pure checks of a request's head.
// Invariants:
//   loopback-host.1. On loopback the Host header must name this machine or a configured host: a foreign name that
//        resolves to this machine is a DNS rebinding attack. Beyond loopback, a configured list applies in the same
//        way; IP addresses pass there, because rebinding needs a name.
//   loopback-host.2. A request has one Host header, which holds a host and a port only.
//   loopback-host.3. A state-changing cross-site request needs an allowed origin, with or without a body.
//        Sec-Fetch-Site decides; browsers without it send Origin.
import { isIP } from "node:net";
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../api-error.ts";

export interface HostRules {
  /** The server listens on loopback only. */
  readonly loopback: boolean;
  /** Allowed names; `*.example.com` matches every subdomain. Null: no list. */
  readonly allowed: readonly string[] | null;
}

const LOOPBACK_HOST = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const HOST = /^(\[[\da-f:.]{2,45}\]|[\w.-]{1,255})(:\d{1,5})?$/i;
const PORT = /:\d{1,5}$/;

export function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** @throws {ApiError} `malformed_request` (loopback-host.2), `forbidden_host` (loopback-host.1) */
export function checkHost({ headers, rawHeaders }: HostHead, rules: HostRules): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  const { host } = headers;
  if (hosts > 1 || (host !== undefined && !HOST.test(host))) {
    const detail =
      hosts > 1 ? "The request has more than one Host header." : "The Host header is not a host with a port.";
    throw new ApiError("malformed_request", detail, {}, { Connection: "close" });
  }
  if (isServed(host, rules)) return;
  const detail = rules.loopback
    ? "This server listens on loopback and accepts localhost; ALLOWED_HOSTS adds further hosts."
    : "ALLOWED_HOSTS does not contain the host of the Host header.";
  throw new ApiError("forbidden_host", detail);
}

type HostHead = Pick<IncomingMessage, "headers" | "rawHeaders">;

function isServed(host: string | undefined, { loopback, allowed }: HostRules): boolean {
  if (!loopback && allowed === null) return true;
  if (host === undefined) return false;
  if (LOOPBACK_HOST.test(host)) return true;
  const name = host.replace(PORT, "").toLowerCase();
  if (!loopback && isIP(name.replace(/^\[|\]$/g, "")) !== 0) return true;
  return (allowed ?? []).some((one) => (one.startsWith("*.") ? name.endsWith(one.slice(1)) : name === one));
}

type SiteHead = Pick<IncomingMessage, "method" | "headers">;

/** Whether the request is cross-site, according to the browser (loopback-host.3). */
export function isFromElsewhere({ headers }: SiteHead): boolean {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  return origin !== undefined && origin.replace(/^https?:\/\//, "") !== host;
}

/** loopback-host.3. @throws {ApiError} `forbidden_origin` */
export function checkSite(request: SiteHead, isAllowed: (origin: string | undefined) => boolean, remedy: string): void {
  const { method, headers } = request;
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  if (!isFromElsewhere(request) || isAllowed(headers.origin)) return;
  throw new ApiError("forbidden_origin", `Cross-site requests are not allowed here; ${remedy}.`);
}
