// Request path: the target of a request → its path and query, and the matching route.
// Invariants:
//   request-path.1. A path has one reading: the path as sent and the decoded path name the same resource. Needless
//        escapes, escaped separators, dot segments and broken escapes match nothing. A target has no fragment: parsers
//        of the whole URL would see less than the router.
//   request-path.2. The mount prefix decides where routes are, never who may use them.
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { ApiError } from "../../api-error.ts";

export interface Address {
  /** Without the mount prefix. */
  readonly path: string;
  readonly search: string;
  readonly query: Readonly<Record<string, string>>;
}

/** @param prefix `""`, or `/of/the/mount`. Null if the target is no path below it. */
export function parseAddress(target: string, prefix: string): Address | null {
  const mark = target.indexOf("?");
  const whole = mark < 0 ? target : target.slice(0, mark);
  const path = below(whole, prefix);
  if (path?.startsWith("/") !== true || target.includes("#")) return null; // request-path.1
  const search = mark < 0 ? "" : target.slice(mark);
  return { path, search, query: parseQuery(search) };
}

/** Joins the values of a repeated name with commas. */
function parseQuery(search: string): Readonly<Record<string, string>> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(search)) {
    query[name] = name in query ? `${query[name]},${value}` : value;
  }
  return { ...query };
}

/** The official client prepends its base URL, with the prefix, to our Location: the prefix counts once. */
function below(path: string, prefix: string): string | null {
  if (prefix === "") return path;
  const once = cut(path, prefix);
  return once === null ? null : (cut(once, prefix) ?? once);
}

function cut(path: string, prefix: string): string | null {
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : null;
}

const PATH_UNITS_MAX = 4096;
/** Letters, digits, "-", ".", "_", "~" (RFC 3986: unreserved); "/", "\\" and NUL. */
const NEEDLESS_ESCAPE = /%(2[DEF]|3\d|4[1-9A-F]|5[\dACF]|6[1-9A-F]|7[\dAE]|00)/i;
const DOT_SEGMENT = /\/\.{1,2}(\/|$)/;
const UNUSUAL = /[^\x21-\x7e]|\\/;

function hasOneReading(path: string): boolean {
  if (path.length > PATH_UNITS_MAX || !path.startsWith("/")) return false;
  return !NEEDLESS_ESCAPE.test(path) && !DOT_SEGMENT.test(path) && !UNUSUAL.test(path);
}

export interface Found<Route> {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The router's result: handlers with their parameters, as text or as indexes into a list of texts. */
type Matches<Route> = readonly [
  handlers: readonly (readonly [Route, Readonly<Record<string, string | number>>])[],
  texts?: readonly string[],
];

export interface Finder<Route> {
  /** @throws {ApiError} `not_found` or `method_not_allowed` if no route matches. */
  find(method: string, path: string): Found<Route>;
  /** At least one method of this path has a route. */
  knows(path: string): boolean;
}

export function createFinder<Route extends { readonly method: string; readonly path: string }>(
  routes: readonly Route[],
): Finder<Route> {
  const router = new SmartRouter<Route>({ routers: [new RegExpRouter(), new TrieRouter()] });
  const methods = new Set<string>();
  for (const route of routes) {
    methods.add(route.method.toUpperCase());
    router.add(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ":$1"), route);
  }
  const match = (method: string, path: string): Found<Route> | null => {
    const [handlers, stash] = router.match(method, path) as Matches<Route>;
    const first = handlers[0];
    if (first === undefined) return null;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(first[1])) {
      const decoded = decode(typeof value === "number" ? (stash?.[value] ?? "") : value);
      if (decoded === null) return null;
      params[name] = decoded;
    }
    return { route: first[0], params };
  };
  const listMethods = (path: string): readonly string[] =>
    hasOneReading(path) ? [...methods].filter((method) => match(method, path) !== null) : []; // request-path.1
  return {
    find(method, path) {
      const found = hasOneReading(path) ? match(method === "HEAD" ? "GET" : method, path) : null;
      if (found !== null) return found;
      const others = listMethods(path).join(", ");
      if (others === "") throw new ApiError("not_found", "No route has this path; GET /openapi.json lists all routes.");
      throw new ApiError("method_not_allowed", `This path supports ${others}.`, {}, { Allow: others });
    },
    knows: (path) => listMethods(path).length > 0,
  };
}

/** Null for an escape that is no UTF-8. */
function decode(raw: string): string | null {
  if (!raw.includes("%")) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}
