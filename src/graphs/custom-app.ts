// Custom app: what `http.app` names, a Hono app or anything with `fetch`, and which requests are its own.
// Invariants:
//   CA1. A route of a Hono app wins over the server's. Middleware alone claims nothing: it runs for the app's own routes.
//   CA2. Anything else with `fetch` does not say what it serves: it gets what the server has nothing for.
import { describeError } from "../base/errors.ts";
import type { ExportPath } from "./export-path.ts";
import { importExport } from "./module.ts";

export interface LoadedApp {
  readonly claim: (method: string, path: string) => "first" | "rest" | "none";
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>;
  /** It has middleware for every path, which its author may expect to guard the server's own routes. */
  readonly hasMiddleware: boolean;
}

export class AppLoadError extends Error {
  constructor({ file, exportName }: ExportPath, cause: string) {
    super(`http.app (${file}, export ${exportName}) does not load: ${cause}`);
    this.name = "AppLoadError";
  }
}

interface Fetching {
  readonly fetch: LoadedApp["fetch"];
}

/** As Hono's router tells it: handlers in the order in which they would run, each with the route it was added by. */
interface HonoLike extends Fetching {
  readonly routes: readonly HonoRoute[];
  readonly router: {
    match(
      method: string,
      path: string,
    ): readonly [readonly (readonly [readonly [unknown, HonoRoute], unknown])[], ...unknown[]];
  };
}

interface HonoRoute {
  readonly method: string;
  readonly path: string;
  readonly handler: (...parameters: never) => unknown;
}

/** @throws {AppLoadError} */
export async function loadCustomApp(path: ExportPath, folder: string): Promise<LoadedApp> {
  let app: unknown;
  try {
    app = await importExport(path, folder);
  } catch (error) {
    throw new AppLoadError(path, describeError(error).message);
  }
  if (!isFetching(app)) throw new AppLoadError(path, "the export has no fetch method");
  const fetch: LoadedApp["fetch"] = (request, env) => app.fetch(request, env);
  if (!isHonoLike(app)) return { claim: () => "rest", fetch, hasMiddleware: false }; // CA2
  return {
    fetch,
    hasMiddleware: app.routes.some((route) => isMiddleware(route) && /^\/?\*$/.test(route.path)),
    claim(method, path_) {
      const [found] = app.router.match(method === "HEAD" ? "GET" : method, path_);
      const routes = found.map(([[, route]]) => route);
      if (routes.some((route) => !isMiddleware(route))) return "first"; // CA1
      return routes.length > 0 ? "rest" : "none";
    },
  };
}

function isFetching(app: unknown): app is Fetching {
  return (
    (typeof app === "object" || typeof app === "function") &&
    app !== null &&
    "fetch" in app &&
    typeof app.fetch === "function"
  );
}

function isHonoLike(app: object): app is HonoLike {
  if (!("routes" in app) || !Array.isArray(app.routes) || !("router" in app)) return false;
  const { router } = app;
  return typeof router === "object" && router !== null && "match" in router && typeof router.match === "function";
}

/** Hono's own rule: added for every method, and takes `next`. */
function isMiddleware({ method, handler }: HonoRoute): boolean {
  return method === "ALL" && handler.length > 1;
}
