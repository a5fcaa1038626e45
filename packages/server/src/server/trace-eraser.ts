// Trace eraser: deletion of traces through the routes of the trace store, in this process or in another one.
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { TraceEraser } from "../ports/ports.ts";

export function createTraceEraser(routes: readonly HttpRoute[]): TraceEraser | null {
  const route = routes.find(({ method, path }) => method === "delete" && path === "/traces");
  if (route === undefined) return null;
  const ask = async (body: JsonObject): Promise<JsonObject> => {
    const reply = await route.handle(buildRequest(body));
    const value: unknown = typeof reply.body === "string" ? JSON.parse(reply.body) : null;
    return isJsonObject(value) ? value : {};
  };
  return {
    async eraseThread(threadId, dryRun) {
      let count = 0;
      let cursor: JsonObject[string] = null;
      do {
        const page = await ask({ thread_id: threadId, dry_run: dryRun, cursor });
        count += Number(page["traces"]);
        cursor = page["next_cursor"] ?? null;
      } while (cursor !== null);
      return count;
    },
    async erasePerson(identifiers, dryRun, cursor) {
      const page = await ask({ identifiers, dry_run: dryRun, cursor });
      const next = page["next_cursor"];
      return { traces: Number(page["traces"]), next: typeof next === "string" ? next : null };
    },
  };
}

function buildRequest(value: JsonObject): HttpRequest {
  return {
    method: "DELETE",
    url: "/traces",
    path: "/traces",
    params: {},
    query: {},
    headers: {},
    remoteAddress: "",
    readBody: async () => ({ value, text: JSON.stringify(value) }),
    readForm: async () => "",
    onDisconnect: () => undefined,
  };
}
