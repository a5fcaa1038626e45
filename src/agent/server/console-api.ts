// Beside: what runs in the same process as the agent server, as the console asks for it below /console/api: the trace
// store, the collector, the configuration. src/main/ says what there is; a part that is not there says so.
// Invariants:
//   console-api.1. Nothing here has an owner, so only a caller who may see every thread may see it, and nothing is read before.
//   console-api.2. Nothing below /console/api is ever the page: what is not there is a refusal in JSON.
import type { AccessEvent } from "../../api/operation.ts";
import { ApiError } from "../../base/api-error.ts";
import type { SettingLine } from "../../base/config/config.ts";
import type { HttpRequest, HttpRoute } from "../../http/server/app.ts";
import type { HttpReply } from "../../http/server/reply.ts";
import { authorize } from "../auth/authorize.ts";
import type { Access } from "../ports/ports.ts";
import { json } from "../routes/route.ts";

export interface LocalServices {
  /** Routes that begin with `/traces`; null when no trace store runs here. */
  readonly traces: readonly HttpRoute[] | null;
  readonly collector: BesideCollector | null;
  readonly settings: readonly SettingLine[];
  /** Where each graph comes from, as the configuration file says it: `./agent.ts:graph`. */
  readonly graphs: readonly { readonly graph_id: string; readonly source: string }[];
  readonly versions: Readonly<Record<string, string>>;
}

export interface BesideCollector {
  /** Where senders send to: `http://127.0.0.1:4318`. */
  readonly url: string;
  /** In the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  /** What it has warned of, newest first. */
  readonly problems: () => readonly { readonly at: string; readonly event: string; readonly fields: object }[];
  /** Sends one span, as any sender does. @returns the id of its trace in the store. */
  readonly sendSample: () => Promise<string>;
}

const BASE = "/console/api";

/** @param access null: nobody has to authenticate. */
export function besideRoutes(beside: LocalServices, access: Access | null): readonly HttpRoute[] {
  const { traces, collector } = beside;
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
    read("/about", async () =>
      json({
        traces: traces !== null,
        collector: collector === null ? null : { url: collector.url },
        settings: beside.settings,
        graphs: beside.graphs,
        versions: beside.versions,
      }),
    ),
    ...(traces ?? []).filter(({ method }) => method === "get").map((one) => guarded("threads:search", one)),
    ...(collector === null ? [] : collectorRoutes(collector, read, guarded)),
    guarded("threads:search", { method: "get", path: "/*", handle: absent }), // console-api.2
  ];
}

function collectorRoutes(
  collector: BesideCollector,
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
  if (access === null) return;
  const caller = await access.authenticate(request);
  const { scope } = await authorize(access, caller, event, {});
  if (scope === null) return;
  const detail = "Traces and settings have no owners: they are for callers who may see every thread.";
  throw new ApiError("forbidden", detail);
}

/** @throws {ApiError} `part_absent` */
async function absent(): Promise<never> {
  const detail = "Not available in this process. `holdpoint dev` runs agent server, collector and trace store in one.";
  throw new ApiError("part_absent", detail);
}
