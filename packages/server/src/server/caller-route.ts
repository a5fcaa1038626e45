// Caller route: the signed-in person and the actions that the console may offer: none that the server rejects.
import type { HttpRoute } from "@holdpoint/base/http/server/app.ts";
import { listEvents } from "../auth/roles.ts";
import type { Caller } from "../model/model.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { Access } from "../ports/ports.ts";
import { json } from "../routes/route.ts";

/**
 * The console loads it with every page, so a session gets its new tokens here.
 * @param access null without authentication
 */
export function callerRoute(access: Access | null, sessions?: Pick<Sessions, "rotate">): HttpRoute {
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
