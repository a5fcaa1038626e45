// Browser: who a request on loopback may be meant for.
// Invariant BR1: on loopback the Host header must name this machine: a foreign name that resolves to it is an attack.
import { ApiError } from "../base/errors.ts";

const LOOPBACK_HOST = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

export function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** @throws {ApiError} `forbidden_host` (BR1) */
export function checkHost(header: string | undefined): void {
  if (header !== undefined && LOOPBACK_HOST.test(header)) return;
  throw new ApiError("forbidden_host", "This server listens on loopback and answers to localhost only.");
}
