// Page files: the built files of a single-page app → the route that serves them.
// Invariants:
//   page-files.1. The route serves only files that the folder had when it was read: the URL is a key, never a path on a
//        disk.
//   page-files.2. Browsers cache a file with a hash in its name for ever and revalidate the page itself every time.
//   page-files.3. Every path below the route that names no file returns the page, so that deep links work.
//   page-files.4. The page refers to its files by relative URLs: it works below any prefix.
//   page-files.5. The page runs only its own files and loads nothing from elsewhere.
import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { basename, extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { ApiError } from "../../api-error.ts";
import type { HttpRequest, HttpRoute } from "../server/app.ts";
import type { HttpReply } from "../server/reply.ts";

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Null if compression does not shrink it. */
  readonly packed: Buffer | null;
}

interface Page {
  readonly html: string;
  readonly files: ReadonlyMap<string, PageFile>;
}

const FILES_MAX = 1000;
const BYTES_MAX = 64 * 1024 * 1024;
const ASSETS = "assets/";
const NONCE_BYTES = 16;

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

/**
 * @param at `/console`: the page's own path; all paths below it belong to the app.
 * @param folder of the built files, with an `index.html` that uses relative URLs. Resolved on first use.
 * @param besides paths of further files, which the page finds beside its `index.html`
 */
export function pageRoute(at: string, folder: () => Promise<string>, besides: readonly string[] = []): HttpRoute {
  let page: Page | null = null;
  return {
    method: "get",
    path: `${at}/*`,
    async handle(request) {
      page ??= readPage(await folder(), besides);
      const name = request.path.slice(at.length + 1);
      const file = page.files.get(name); // page-files.1
      if (file !== undefined) return fileReply(name, file, request);
      if (name.startsWith(ASSETS)) throw new ApiError("not_found", "The page has no such file; reload the page.");
      return pageReply(page.html, request.path, at); // page-files.3
    },
  };
}

function readPage(folder: string, besides: readonly string[]): Page {
  const files = new Map<string, PageFile>();
  let size = 0;
  const own = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, relative(folder, path).split(sep).join("/")] as const);
  for (const [path, name] of [...own, ...besides.map((path) => [path, basename(path)] as const)]) {
    const type = TYPES[extname(name)];
    if (type === undefined || name.startsWith(".")) continue;
    size += statSync(path).size;
    if (files.size >= FILES_MAX || size > BYTES_MAX) throw new Error(`${folder} exceeds the limits of a page`);
    const bytes = readFileSync(path);
    const packed = gzipSync(bytes, { level: 9 });
    files.set(name, { type, bytes, packed: packed.length < bytes.length ? packed : null });
  }
  return { html: readFileSync(join(folder, "index.html"), "utf8"), files };
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function fileReply(name: string, { type, bytes, packed }: PageFile, { headers }: HttpRequest): HttpReply {
  const accepted = headers["accept-encoding"] ?? "";
  const isPacked = packed !== null && /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted);
  const sent = isPacked ? packed : bytes;
  return {
    status: 200,
    body: once(sent),
    headers: {
      "Content-Type": type,
      "Content-Length": String(sent.length),
      ...(isPacked ? { "Content-Encoding": "gzip" } : {}),
      Vary: "Accept-Encoding",
      "Cache-Control": name.startsWith(ASSETS) ? "public, max-age=31536000, immutable" : "no-cache", // page-files.2
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", // for an image opened directly
    },
  };
}

/** `/console` → `console/`, `/console/` → `./`, `/console/a/b` → `../` (page-files.4). */
function findBase(path: string, at: string): string {
  if (path === at) return `${at.slice(at.lastIndexOf("/") + 1)}/`;
  const depth = path.slice(at.length + 1).split("/").length - 1;
  return depth === 0 ? "./" : "../".repeat(depth);
}

function pageReply(html: string, path: string, at: string): HttpReply {
  const nonce = randomBytes(NONCE_BYTES).toString("base64");
  const base = findBase(path, at);
  const body = html
    .replaceAll(/(href|src)="\.\//g, `$1="${base}`)
    .replaceAll(/<(script|style|link)\b/g, `<$1 nonce="${nonce}"`);
  return {
    status: 200,
    body,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store", // page-files.2; the nonce is valid for one load
      "Content-Security-Policy": policy(nonce),
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    },
  };
}

/** page-files.5. The nonce is for style elements that libraries create; scripts come from files only. */
function policy(nonce: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
