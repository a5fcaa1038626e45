// Cookies: those of sessions and of attempts to sign in. Pure.
// Invariants:
//   cookies.1. Every cookie is httpOnly and SameSite=Lax, and Secure on https. With https its name has the prefix that
//        keeps other hosts, and pages without https, from setting it.
//   cookies.2. A name that occurs twice has no value: one of them has another origin.
import type { AccessRequest } from "../ports/ports.ts";

export interface Cookies {
  read(request: Pick<AccessRequest, "headers">, name: string): string | null;
  /** Value of `Set-Cookie`; with `maxAgeSecs` 0 it removes the cookie. */
  write(name: string, value: string, maxAgeSecs: number): string;
}

/** @param path `""`, or the prefix of all paths of the server */
export function createCookies({ secure, path }: { readonly secure: boolean; readonly path: string }): Cookies {
  const prefix = secure ? (path === "" ? "__Host-" : "__Secure-") : "";
  const attributes = `Path=${path === "" ? "/" : path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`; // cookies.1
  return {
    read({ headers: { cookie } }, name) {
      if (typeof cookie !== "string") return null;
      const wanted = `${prefix}${name}=`;
      const found = cookie
        .split(";")
        .map((one) => one.trim())
        .filter((one) => one.startsWith(wanted));
      return found.length === 1 ? (found[0] ?? "").slice(wanted.length) : null; // cookies.2
    },
    write: (name, value, maxAgeSecs) => `${prefix}${name}=${value}; Max-Age=${maxAgeSecs}; ${attributes}`,
  };
}
