// Console API: parts of the same process that the console uses below /console/api: trace store, collector,
// configuration. packages/holdpoint/src/main/ provides them; an absent part replies with an error.
// Invariants:
//   console-api.1. These parts have no owner, so they require a caller with access to every thread, checked before any
//     read. Traces also serve callers who are limited to some threads (traces-in-scope.ts). Another server that shows the
//     traces of this one erases them with the right to erase people.
//     The caller itself is for every caller.
//   console-api.2. Unknown paths below /console/api get a JSON error, never the console page.
import type { AccessEvent } from "@holdpoint/api/operation.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { SettingLine } from "@holdpoint/base/config/config.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { authorize } from "../auth/authorize.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { Caller, Scope } from "../model/model.ts";
import type { Access } from "../ports/ports.ts";
import { json } from "../routes/route.ts";
import { replyInScope, type ScopedTraces, type ThreadsInScope } from "./traces-in-scope.ts";
import { listEvents } from "../auth/roles.ts";

export interface LocalServices {
  /** Routes below `/traces`; null without a trace store. */
  readonly traces: readonly HttpRoute[] | null;
  readonly collector: LocalCollector | null;
  readonly settings: readonly SettingLine[];
  /** Source of each graph in the configuration file: `./agent.ts:graph`. */
  readonly graphs: readonly { readonly graph_id: string; readonly source: string }[];
  /** Why a graph of the file is not deployed. */
  readonly loadProblem: (graphId: string) => string | null;
  readonly versions: Readonly<Record<string, string>>;
}

export interface LocalCollector {
  /** Target address of senders: `http://127.0.0.1:4318`. */
  readonly url: string;
  /** In the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  /** Recent warnings, newest first; null for a collector in another process. */
  readonly problems: () => readonly { readonly at: string; readonly event: string; readonly fields: object }[] | null;
  /** Sends one span over HTTP. @returns the id of its trace in the store */
  readonly sendSample: () => Promise<string>;
}

const BASE = "/console/api";

/**
 * @param access null without authentication
 * @param sessions of people; absent without sign-in
 * @param threads for callers who are limited to some; without it they see no trace
 */
export function consoleApiRoutes(
  localServices: LocalServices,
  access: Access | null,
  sessions?: Pick<Sessions, "rotate">,
  threads: ThreadsInScope = async () => new Set(),
): readonly HttpRoute[] {
  const { traces, collector } = localServices;
  const guarded = (event: AccessEvent, { method, path, handle }: HttpRoute): HttpRoute => ({
    method,
    path: BASE + path,
    async handle(request) {
      await admit(access, event, request); // console-api.1
      return handle(request);
    },
  });
  const read = (path: string, answer: () => Promise<HttpReply>): HttpRoute =>
    guarded("threads:search", { method: "get", path, handle: answer });
  return [
    callerRoute(access, sessions),
    read("/about", async () =>
      json({
        traces: traces !== null,
        collector: collector === null ? null : { url: collector.url },
        settings: localServices.settings,
        graphs: localServices.graphs.map((one) => ({ ...one, problem: localServices.loadProblem(one.graph_id) })),
        versions: localServices.versions,
      }),
    ),
    ...(traces === null ? [] : scopeTraceRoutes({ routes: traces, threads }, access)),
    ...(traces ?? []).filter(isErasure).map((route) => guarded("people:delete", route)),
    ...(collector === null ? [] : collectorRoutes(collector, read, guarded)),
    guarded("threads:search", { method: "get", path: "/*", handle: absent }), // console-api.2
  ];
}

const isErasure = ({ method, path }: HttpRoute): boolean => method === "delete" && path === "/traces";

function scopeTraceRoutes(traces: ScopedTraces, access: Access | null): readonly HttpRoute[] {
  const reads = traces.routes.filter(({ method }) => method === "get");
  return reads.map((route) => ({
    method: route.method,
    path: BASE + route.path,
    async handle(request) {
      const scope = await findScope(access, "threads:search", request); // console-api.1
      return scope === null ? route.handle(request) : replyInScope(traces, route, request, scope);
    },
  }));
}

function collectorRoutes(
  collector: LocalCollector,
  read: (path: string, answer: () => Promise<HttpReply>) => HttpRoute,
  guarded: (event: AccessEvent, route: HttpRoute) => HttpRoute,
): readonly HttpRoute[] {
  return [
    read("/collector", async () => json({ metrics: await collector.metrics(), problems: collector.problems() })),
    guarded("threads:create", {
      method: "post",
      path: "/collector/sample",
      handle: async () => json({ trace_id: await collector.sendSample() }),
    }),
  ];
}

/** @throws {ApiError} `unauthenticated`, `forbidden` */
async function admit(access: Access | null, event: AccessEvent, request: HttpRequest): Promise<void> {
  if ((await findScope(access, event, request)) === null) return;
  throw new ApiError("forbidden", "This part has no owners: it is for callers that may see every thread.");
}

/** @throws {ApiError} `unauthenticated`, `forbidden` */
async function findScope(access: Access | null, event: AccessEvent, request: HttpRequest): Promise<Scope> {
  if (access === null) return null;
  const caller = await access.authenticate(request);
  return (await authorize(access, caller, event, {})).scope;
}

/** @throws {ApiError} `part_absent` */
async function absent(): Promise<never> {
  const detail =
    "Not available in this process: set TRACES=on, or TRACES to the address of a trace store, COLLECTOR_URL for a collector. `holdpoint dev` runs all in one process.";
  throw new ApiError("part_absent", detail);
}

// The signed-in person and the actions that the console may offer: none that the server rejects.

/**
 * The console loads it with every page, so a session gets its new tokens here.
 * @param access null without authentication
 */
function callerRoute(access: Access | null, sessions?: Pick<Sessions, "rotate">): HttpRoute {
  return {
    method: "get",
    path: "/console/api/caller",
    async handle(request) {
      const caller = access === null ? null : await access.authenticate(request);
      const cookie = (await sessions?.rotate(request)) ?? null;
      const headers = { "Cache-Control": "no-store", ...(cookie === null ? {} : { "Set-Cookie": cookie }) };
      return json(
        { ...callerObject(caller), signed_in: caller?.groups !== undefined && sessions !== undefined },
        headers,
      );
    },
  };
}

/** `may`: the events that the role has; null where only each call decides. */
function callerObject(caller: Caller | null): object {
  const { name = null, role = null, user = null, groups = [], limits = null } = caller ?? {};
  return {
    name,
    display_name: user?.["display_name"] ?? name,
    email: user?.["email"] ?? null,
    groups,
    role,
    limits,
    may: role === null ? null : listEvents(role),
    read_only: role === "viewer",
  };
}
