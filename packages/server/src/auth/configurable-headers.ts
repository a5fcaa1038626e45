// Configurable headers: the request headers that graphs receive in `config.configurable`.
// Invariants:
//   configurable-headers.1. Only headers that the configuration includes, and does not exclude, are copied.
//   configurable-headers.2. Headers with credentials are never copied, regardless of the configuration.
//   configurable-headers.3. An included name comes only from the header. Graphs can trust it as far as they trust the
//     gateway that sets it.
import type { IncomingHttpHeaders } from "node:http";
import { RE2JS } from "re2js";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

export interface HeaderRules {
  /** Lower-case names; `*` matches any characters. */
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
}

export interface ConfigurableHeaders {
  readonly pick: (headers: IncomingHttpHeaders) => JsonObject;
  /** Removes members that only a header may set (configurable-headers.3). */
  readonly strip: (configurable: JsonObject) => JsonObject;
}

/** configurable-headers.2. Includes names used by proxies and services, and any name with key, token or secret. */
const CREDENTIALS =
  /authorization|cookie|passw|secret|token|credential|signature|session|csrf|xsrf|jwt|bearer|(^|[-_])auth([-_]|$)|(^|[-_])(api)?keys?([-_]|$)|apikey|certificate|client-cert|^x-tenant-id$|^x-forwarded-client-cert$/;

export function createConfigurableHeaders(rules: HeaderRules | null): ConfigurableHeaders {
  const includes = (rules?.includes ?? []).map(buildPattern);
  const excludes = (rules?.excludes ?? []).map(buildPattern);
  const isHeaders = (name: string): boolean =>
    includes.some((pattern) => pattern.test(name)) && !excludes.some((pattern) => pattern.test(name));
  if (includes.length === 0) return { pick: () => ({}), strip: (configurable) => configurable };
  return {
    pick(headers) {
      const picked: Record<string, Json> = {};
      for (const [name, value] of Object.entries(headers)) {
        if (!isHeaders(name) || CREDENTIALS.test(name) || value === undefined) continue; // configurable-headers.1, configurable-headers.2
        picked[name] = typeof value === "string" ? value : value.join(", ");
      }
      return picked;
    },
    strip: (configurable) =>
      Object.fromEntries(Object.entries(configurable).filter(([name]) => !isHeaders(name.toLowerCase()))), // configurable-headers.3
  };
}

/** RE2, because names in `configurable` come from the caller, have any length, and several `*` would backtrack. */
function buildPattern(name: string): RE2JS {
  const parts = name.split("*").map((part) => RE2JS.quote(part));
  return RE2JS.compile(`^${parts.join(".*")}$`, RE2JS.DOTALL);
}
