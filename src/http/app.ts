// App: routes → one request listener. Reads bodies, answers refusals, adds the headers that every reply has.
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { Hono, type Context } from "hono";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { ApiError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { readJsonBody, type JsonBody } from "./body.ts";
import { checkHost, corsHeaders, preflightHeaders } from "./browser.ts";
import { problemOf } from "./problem.ts";

export interface HttpRequest {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonBody;
  /** Calls back when the peer goes away before it has its reply. */
  readonly onHangUp: (callback: () => void) => void;
}

export interface HttpReply {
  readonly status: number;
  /** JSON text, other text with its Content-Type in the headers, or bytes over time. */
  readonly body: string | ReadableStream<Uint8Array> | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** `/threads/{thread_id}/runs` */
  readonly path: string;
  readonly takesBody: boolean;
  readonly handle: (request: HttpRequest) => Promise<HttpReply>;
}

export interface AppOptions {
  readonly routes: readonly HttpRoute[];
  readonly bodyBytesMax: number;
  /** The server listens on loopback only. */
  readonly loopback: boolean;
  readonly log: Log;
  readonly onReply: (route: HttpRoute | null, status: number, seconds: number) => void;
  readonly monotonic: () => number;
}

type Env = { Bindings: HttpBindings };

export function createApp(options: AppOptions): RequestListener {
  const app = new Hono<Env>();
  const paths = new Set<string>();
  for (const route of options.routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    paths.add(path);
    app[route.method](path, (context) => answer(options, context, route));
  }
  for (const path of paths) {
    app.options(path, (context) => {
      const { origin, "access-control-request-headers": headers } = context.env.incoming.headers;
      return new Response(null, { status: 204, headers: preflightHeaders(origin, headers) });
    });
    app.all(path, (context) => refuse(options, context, new ApiError("method_not_allowed", "Try another method.")));
  }
  app.notFound((context) =>
    refuse(options, context, new ApiError("not_found", "No such address; GET /openapi.json lists them.")),
  );
  app.onError((error, context) => refuse(options, context, error));
  const listen = getRequestListener(app.fetch);
  return (incoming, outgoing) => void listen(incoming, outgoing);
}

const EMPTY_BODY: JsonBody = { value: undefined, text: "" };

async function answer(options: AppOptions, context: Context<Env>, route: HttpRoute): Promise<Response> {
  const startedAt = options.monotonic();
  const { incoming, outgoing } = context.env;
  let response: Response;
  try {
    if (options.loopback) checkHost(incoming.headers.host);
    const request: HttpRequest = {
      path: context.req.path,
      params: context.req.param(),
      query: context.req.query(),
      headers: incoming.headers,
      body: route.takesBody ? await readJsonBody(incoming, options.bodyBytesMax) : EMPTY_BODY,
      onHangUp: (callback) => {
        outgoing.once("close", () => {
          if (!outgoing.writableFinished) callback();
        });
      },
    };
    const { status, body, headers } = await route.handle(request);
    response = new Response(body, {
      status,
      headers: {
        ...(typeof body === "string" ? { "Content-Type": "application/json" } : {}),
        ...headers,
        ...corsHeaders(incoming.headers.origin),
      },
    });
  } catch (error) {
    response = refuse(options, context, error);
  }
  options.onReply(route, response.status, (options.monotonic() - startedAt) / 1000);
  return response;
}

function refuse(options: AppOptions, context: Context<Env>, error: unknown): Response {
  const { status, text, headers } = problemOf(error, options.log);
  return new Response(text, { status, headers: { ...headers, ...corsHeaders(context.env.incoming.headers.origin) } });
}
