// Remote: the read routes of a trace store in another process, asked in the name of this server.
// Invariants:
//   - Requests go to the configured address only: a redirect is an error, and callers choose nothing but ids and
//     filters, which are encoded.
//   - The key is in a header of the request alone: neither replies nor errors contain it, and no header of the
//     caller is passed on.
//   remote.3. A store that cannot erase is named: an erasure that left its traces would look complete.
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";

export interface RemoteStore {
  readonly url: string;
  readonly key: string | null;
}

const TIMEOUT_MS = 15_000;
/** The last page of an erasure also cleans the files of the store. */
const ERASURE_TIMEOUT_MS = 5 * 60_000;
const PATHS = [
  "/traces",
  "/traces/projects",
  "/traces/runs/{run_id}",
  "/traces/runs/{run_id}/attachments/{name}",
  "/traces/{trace_id}",
] as const;

export function remoteTraceRoutes(store: RemoteStore): readonly HttpRoute[] {
  return [
    ...PATHS.map((path): HttpRoute => ({ method: "get", path, handle: (request) => asked(store, path, request) })),
    {
      method: "delete",
      path: "/traces",
      async handle(request) {
        const { text } = await request.readBody();
        return asked(store, "/traces", request, { method: "DELETE", body: text });
      },
    },
  ];
}

interface Sent {
  readonly method?: string;
  /** What an erasure names. */
  readonly body?: string;
}

async function asked(
  store: RemoteStore,
  path: string,
  { params, query }: HttpRequest,
  sent: Sent = {},
): Promise<HttpReply> {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const { status, body } = await sendRequest(store, `${filled}${search === "" ? "" : `?${search}`}`, sent);
  if (status === 200 && isJson(body)) return { status, body };
  throw sent.body === undefined ? readProblem(store, status) : erasureProblem(store, status);
}

async function sendRequest(
  { url, key }: RemoteStore,
  address: string,
  sent: Sent,
): Promise<{ readonly status: number; readonly body: string }> {
  const headers = {
    accept: "application/json",
    ...(sent.body === undefined ? {} : { "content-type": "application/json" }),
    ...(key === null ? {} : { "x-api-key": key }),
  };
  try {
    const signal = AbortSignal.timeout(sent.body === undefined ? TIMEOUT_MS : ERASURE_TIMEOUT_MS);
    const reply = await fetch(`${url}${address}`, { ...sent, headers, redirect: "manual", signal });
    return { status: reply.status, body: await reply.text() };
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw unreachable(url, `does not respond (${describeError(reason).message}): check that it runs`);
  }
}

function readProblem({ url }: RemoteStore, status: number): ApiError {
  if (status === 404) return new ApiError("trace_not_found", "The trace store of TRACES does not have it.");
  if (status === 409) return new ApiError("search_off", "The trace store of TRACES keeps no words: use filters.");
  if (status === 400 || status === 422)
    return new ApiError("invalid_request", "The trace store of TRACES rejected the filters.");
  if (status === 401 || status === 403) return unreachable(url, "rejects this server: check TRACES_KEY");
  return unreachable(url, `answered ${status}, not with traces: check that TRACES names a trace store`);
}

/** remote.3. */
function erasureProblem({ url }: RemoteStore, status: number): ApiError {
  if (status === 401 || status === 403)
    return unreachable(url, "lets this server erase nothing: TRACES_KEY needs the role admin, for every thread");
  return unreachable(url, `answered ${status}, and erased nothing: check that it is a trace store of this version`);
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

function unreachable(url: string, reason: string): ApiError {
  return new ApiError("part_unreachable", `The trace store at ${url} (TRACES) ${reason}.`);
}
