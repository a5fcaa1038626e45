// Browser: what a page on another origin may do here.
// Invariants:
//   BR1. By default only pages from this machine may read replies, and never with credentials.
//   BR2. A preflight runs nothing.
//   BR3. On loopback the Host header must name this machine: a foreign name that resolves to it is an attack.
import { ApiError } from "../base/errors.ts";

const LOOPBACK_ORIGIN = /^https?:\/\/(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const LOOPBACK_HOST = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

const EXPOSED = "Content-Location, Location, Retry-After, X-Pagination-Total, X-Pagination-Next";

export function corsHeaders(origin: string | undefined): Readonly<Record<string, string>> {
  if (origin === undefined || !LOOPBACK_ORIGIN.test(origin)) return {};
  return { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED, Vary: "Origin" }; // BR1
}

/** Headers of the reply to a preflight (BR2). */
export function preflightHeaders(
  origin: string | undefined,
  requestedHeaders: string | undefined,
): Readonly<Record<string, string>> {
  const allowed = corsHeaders(origin);
  if (Object.keys(allowed).length === 0) return {};
  return {
    ...allowed,
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": requestedHeaders ?? "content-type",
    "Access-Control-Allow-Private-Network": "true",
    "Access-Control-Max-Age": "600",
  };
}

export function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** @throws {ApiError} `forbidden_host` (BR3) */
export function checkHost(header: string | undefined): void {
  if (header !== undefined && LOOPBACK_HOST.test(header)) return;
  throw new ApiError("forbidden_host", "This server listens on loopback and answers to localhost only.");
}
