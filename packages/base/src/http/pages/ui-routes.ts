// UI routes: UI components of graphs, served in the format of LangGraph's clients: an HTML fragment with the URLs of a
// bundle, then the files of the bundle.
// Rules:
//   - Caller input is quoted for its target context: a URL, a script text, an attribute.
//   - A bundle is public browser code, like other pages: a script element sends no credentials.
import { extname } from "node:path";
import { ApiError } from "../../api-error.ts";
import type { HttpRequest, HttpRoute } from "../server/app.ts";
import type { HttpReply } from "../server/reply.ts";

interface UiFile {
  readonly basename: string;
  readonly contents: Uint8Array;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".map": "application/json",
};
const HOST = /^[\w.-]+(?::\d+)?$|^\[[\da-fA-F:.]+\](?::\d+)?$/;
const LOCAL = /^(?:localhost|127\.0\.0\.1)(?::|$)/;
const NAME_UNITS_MAX = 1000;

/** @param prefix of the server's paths */
export function uiRoutes(
  bundles: (name: string) => Promise<readonly UiFile[] | null>,
  prefix: string,
): readonly HttpRoute[] {
  const listFiles = async ({ params }: HttpRequest): Promise<readonly UiFile[]> => {
    const files = await bundles(params["agent"] ?? "");
    if (files === null || files.length === 0)
      throw new ApiError("not_found", `UI not found for agent "${params["agent"]}".`);
    return files;
  };
  return [
    {
      method: "post",
      path: "/ui/{agent}",
      async handle(request) {
        const name = nameIn((await request.readBody()).value);
        return htmlReply(snippet(request, await listFiles(request), name, prefix));
      },
    },
    {
      method: "get",
      path: "/ui/{agent}/{basename}",
      handle: async (request) => {
        const file = (await listFiles(request)).find(({ basename }) => basename === request.params["basename"]);
        if (file === undefined) throw new ApiError("not_found", "The bundle has no such file.");
        return fileReply(file);
      },
    },
  ];
}

function nameIn(body: unknown): string {
  const name = typeof body === "object" && body !== null && "name" in body ? body.name : null;
  if (typeof name === "string" && name.length <= NAME_UNITS_MAX) return name;
  throw new ApiError("invalid_request", `name: must be a text of at most ${NAME_UNITS_MAX} characters.`);
}

function snippet(request: HttpRequest, files: readonly UiFile[], name: string, prefix: string): string {
  const agent = request.params["agent"] ?? "";
  const host = request.headers.host ?? "";
  if (!HOST.test(host)) throw new ApiError("malformed_request", "The Host header is malformed.");
  const base = `${LOCAL.test(host) ? "http:" : ""}//${host}${prefix}/ui/${encodeURIComponent(agent)}`;
  const address = ({ basename }: UiFile): string => attribute(`${base}/${encodeURIComponent(basename)}`);
  const styles = files.filter(({ basename }) => extname(basename) === ".css");
  const script = files.find(({ basename }) => extname(basename) === ".js");
  const call = `__LGUI_${agent.replace(/[^a-zA-Z0-9]/g, "_")}.render(${JSON.stringify(name)}, "{{shadowRootId}}")`;
  return [
    ...styles.map((file) => `<link rel="stylesheet" href="${address(file)}" />`),
    ...(script === undefined ? [] : [`<script src="${address(script)}" onload='${attribute(call, "'")}'></script>`]),
  ].join("\n");
}

/** Clients replace `{{shadowRootId}}` with their own id and read `"` in a script verbatim. */
function attribute(text: string, quote: '"' | "'" = '"'): string {
  const safe = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return quote === '"' ? safe.replaceAll('"', "&quot;") : safe.replaceAll("'", "&#39;");
}

function htmlReply(body: string): HttpReply {
  return {
    status: 200,
    body,
    headers: { "Content-Type": "text/html", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" },
  };
}

function fileReply({ basename, contents }: UiFile): HttpReply {
  return {
    status: 200,
    body: once(contents),
    headers: {
      "Content-Type": TYPES[extname(basename)] ?? "application/octet-stream",
      "Cache-Control": "no-cache",
      "X-Content-Type-Options": "nosniff",
      "Content-Length": String(contents.byteLength),
    },
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
