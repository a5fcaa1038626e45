// API surface: the served routes, their path prefix and CORS, as configured by the operator. The defaults serve
// everything.
import type { CustomApp, RequestHead } from "@holdpoint/base/http/server/app.ts";
import { LOOPBACK_CORS, type CorsRules } from "@holdpoint/base/http/server/cors.ts";
import type { WebApp } from "@holdpoint/base/http/server/fetch-app.ts";
import type { HeaderRules } from "../auth/configurable-headers.ts";
import type { Access } from "../ports/ports.ts";
import type { AgentRoute } from "../routes/route.ts";

export interface Surface {
  /** `""`, or the path prefix of all addresses. */
  readonly mountPrefix: string;
  /** Names of disabled route groups. */
  readonly disabled: readonly string[];
  /** Null origins: the defaults. */
  readonly cors:
    | (Omit<CorsRules, "origins" | "maxAgeSecs"> & {
        readonly origins: readonly string[] | null;
        readonly maxAgeSecs: number | null;
      })
    | null;
  /** Origins allowed for this start, in addition to the rules. */
  readonly moreOrigins: readonly string[];
  readonly configurableHeaders: HeaderRules | null;
  /** Routes of the custom app. */
  readonly app: WebApp | null;
  /** Custom routes require authentication. No effect without authentication. */
  readonly customRouteAuth: boolean;
  /** Authentication precedes the middleware of the app. */
  readonly authBeforeMiddleware: boolean;
}

export function corsRules({ cors, moreOrigins }: Surface): CorsRules {
  const rules = ownRules(cors);
  return { ...rules, origins: [...rules.origins, ...moreOrigins] };
}

function ownRules(cors: Surface["cors"]): CorsRules {
  if (cors === null) return LOOPBACK_CORS;
  const { origins, pattern, maxAgeSecs, ...rest } = cors;
  const named = origins === null ? LOOPBACK_CORS : { origins, pattern };
  return {
    ...rest,
    origins: named.origins,
    pattern: named.pattern,
    maxAgeSecs: maxAgeSecs ?? LOOPBACK_CORS.maxAgeSecs,
  };
}

/** Path → names of the groups that disable its route. Crons start runs, so disabling runs disables crons. */
const GROUPS: readonly (readonly [path: RegExp, groups: readonly string[]])[] = [
  [/^\/assistants(\/|$)/, ["assistants"]],
  [/^(\/threads\/\{thread_id\})?\/runs\/crons(\/|$)/, ["crons", "runs"]],
  [/^(\/threads\/\{thread_id\})?\/runs(\/|$)/, ["runs"]],
  [/^\/threads(\/|$)/, ["threads"]],
  [/^\/store(\/|$)/, ["store"]],
  [/^\/(inbox|requests)(\/|$)/, ["inbox"]],
  [/^\/(keys|people)(\/|$)/, []],
];

function listGroups(path: string): readonly string[] {
  return GROUPS.find(([pattern]) => pattern.test(path))?.[1] ?? ["meta"];
}

/** Always served, so that operators can observe the server. */
const PROBES = new Set(["/ok", "/live", "/ready"]);

export function served(routes: readonly AgentRoute[], { disabled }: Surface): readonly AgentRoute[] {
  return routes.filter(({ operation: { path } }) => {
    return PROBES.has(path) || !listGroups(path).some((group) => disabled.includes(group));
  });
}

export function customApp(surface: Surface, access: Access | null): CustomApp | null {
  const { app, customRouteAuth, authBeforeMiddleware } = surface;
  if (app === null) return null;
  const admit = async (head: RequestHead): Promise<object> => {
    if (access === null || !customRouteAuth) return {};
    const { name, user, permissions } = await access.authenticate(head);
    return { auth: { user: user ?? { identity: name }, permissions } };
  };
  const admitBefore: CustomApp["admitBefore"] = async (head, route) => {
    if (access === null || !authBeforeMiddleware) return;
    if (route === null ? customRouteAuth : route.guarded === true) await access.authenticate(head);
  };
  return { ...app, admit, admitBefore };
}
