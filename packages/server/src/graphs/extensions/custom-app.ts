// Custom app: the app named by `http.app`, a Hono app or anything with `fetch`, and the requests it answers.
// Invariants:
//   - A route of a Hono app takes precedence over the server's.
//   - Middleware of a Hono app runs for every request with a matching path, also around routes of the server.
//   - A path without a route of the app gets the server's reply, including its 404: the app's own notFound never runs.
//   - Any other object with `fetch` does not list its routes: it gets the requests without a route of the server.
//   - A body that middleware has read with `json()` reaches the route of the server as that value, with the
//     middleware's changes.
import { Hono, type Context, type ErrorHandler, type MiddlewareHandler, type Next } from "hono";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { ExportPath } from "../config/export-path.ts";
import { importExport } from "../loading/import-user-module.ts";

/** The server, as the app's requests reach it (base/http/server/fetch-app.ts). */
interface Inner {
  readonly admit: () => Promise<{ readonly env: object } | { readonly refusal: Response }>;
  readonly next: (read: (() => Promise<string>) | null) => Promise<Response>;
}

export interface LoadedApp {
  readonly claim: (method: string, path: string) => "first" | "around" | "rest" | "none";
  readonly fetch: (request: Request, inner: Inner) => Response | Promise<Response>;
}

export class AppLoadError extends Error {
  constructor({ file, exportName }: ExportPath, cause: string) {
    super(`http.app (${file}, export ${exportName}) does not load: ${cause}`);
    this.name = "AppLoadError";
  }
}

interface Fetching {
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>;
}

/** A Hono app of any copy of Hono. The router lists its handlers in execution order, each with its route. */
interface HonoLike extends Fetching {
  readonly routes: readonly HonoRoute[];
  readonly router: {
    match(
      method: string,
      path: string,
    ): readonly [readonly (readonly [readonly [unknown, HonoRoute], unknown])[], ...unknown[]];
  };
  readonly errorHandler?: ErrorHandler;
}

interface HonoRoute {
  readonly method: string;
  readonly path: string;
  readonly handler: MiddlewareHandler;
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
  return isHonoLike(app) ? honoApp(app) : fetchingApp(app);
}

function fetchingApp(app: Fetching): LoadedApp {
  return {
    claim: () => "rest",
    async fetch(request, inner) {
      const admitted = await inner.admit();
      return "refusal" in admitted ? admitted.refusal : app.fetch(request, admitted.env);
    },
  };
}

const INNER = Symbol("the server");
const READ = "holdpoint.json";
type Env = {
  readonly Bindings: { readonly [INNER]: Inner };
  readonly Variables: { readonly [READ]: Promise<unknown> | undefined };
};

/**
 * Mounted in an app of ours: it keeps its paths, its middleware order and its error handler, and
 * holds.
 */
function honoApp(app: HonoLike): LoadedApp {
  const mounted = new Hono<Env>();
  if (app.errorHandler !== undefined) mounted.onError(app.errorHandler);
  for (const route of app.routes)
    mounted.on(route.method, route.path, isMiddleware(route) ? route.handler : admitting(route.handler));
  const outer = new Hono<Env>().use(keepJson).route("/", mounted);
  outer.notFound(async (context) => {
    const { req } = context;
    const changed = context.get(READ);
    const text = changed === undefined ? () => req.text() : async () => JSON.stringify(await changed);
    const reply = await context.env[INNER].next(req.raw.bodyUsed ? text : null);
    return context.newResponse(reply.body, reply); // with headers from earlier middleware
  });
  return {
    fetch: (request, inner) => outer.fetch(request, { [INNER]: inner }),
    claim(method, path) {
      const [found] = app.router.match(method === "HEAD" ? "GET" : method, path);
      const routes = found.map(([[, route]]) => route);
      if (routes.some((route) => !isMiddleware(route))) return "first";
      return routes.length > 0 ? "around" : "none";
    },
  };
}

/** Hono parses the body anew on each call. */
const keepJson: MiddlewareHandler<Env> = async (context, next) => {
  const { req } = context;
  const parse = req.json.bind(req);
  req.json = <T>(): Promise<T> => {
    const parsed = context.get(READ) ?? parse();
    context.set(READ, parsed);
    return parsed as Promise<T>;
  };
  await next();
};

function admitting(handler: MiddlewareHandler): MiddlewareHandler {
  return async (context: Context, next: Next) => {
    const admitted = await (context as Context<Env>).env[INNER].admit();
    if ("refusal" in admitted) return admitted.refusal;
    Object.assign(context.env as object, admitted.env);
    return handler(context, next);
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
